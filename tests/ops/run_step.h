/// Runs single steps of one op, through its kernels, without a graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/graph/op_info.h"
#include "espalier/graph/op_sample.h"
#include "espalier/ops/op.h"
#include "espalier/ops/step.h"

namespace espalier {

/// One step: for each input, the elements of all rows one after the other; the fields of each row, or none.
template <class Op>
struct StepOf {
  std::vector<Shape> shapes;
  std::vector<std::vector<float>> inputs;
  typename Op::Attrs attrs{};
  std::vector<typename Op::Fields> fields{};

  struct Result {
    std::vector<float> y;
    std::vector<std::vector<float>> dx;  // by each input, for dy = the given numbers
  };

  std::int64_t rows() const { return static_cast<std::int64_t>(inputs[0].size()) / shapes[0].elements(); }

  Shape shape_of_result() const { return Op::infer(attrs, InputShapes(Op::kName, Op::kInputs, shapes)); }

  /// y alone.
  std::vector<float> forward() const { return run({}).y; }

  /// y, and the gradients where `dy` is not empty.
  Result run(const std::vector<float>& dy) const {
    const Shape out = shape_of_result();
    std::vector<ConstRows> in;
    for (std::size_t k = 0; k < inputs.size(); ++k) in.push_back(dense(inputs[k], shapes[k].elements()));
    StepIn step;
    step.rows = rows();
    step.inputs = in;
    step.shapes = shapes;
    step.out = &out;
    step.fields_data = reinterpret_cast<const std::byte*>(fields.data());
    step.fields_stride = fields.empty() ? 0 : static_cast<std::int64_t>(sizeof(typename Op::Fields));
    Result result;
    result.y.resize(static_cast<std::size_t>(rows() * out.elements()));
    StepOut to;
    to.y = {result.y.data(), rows(), out.elements(), out.elements()};
    Op::forward(attrs, step, to);
    if (dy.empty()) return result;
    std::vector<GradRows> into;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      result.dx.emplace_back(inputs[k].size());
      const std::int64_t width = shapes[k].elements();
      into.emplace_back(Rows{result.dx[k].data(), rows(), width, width}, true);
    }
    Grads grads(into);
    Saved saved;
    saved.in = step;
    saved.y = dense(result.y, out.elements());
    saved.dy = dense(dy, out.elements());
    Op::backward(attrs, saved, grads);
    return result;
  }

 private:
  ConstRows dense(const std::vector<float>& values, std::int64_t width) const {
    return {values.data(), rows(), width, width};
  }
};

}  // namespace espalier
