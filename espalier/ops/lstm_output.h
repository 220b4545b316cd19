#pragma once

#include "espalier/kernels/lstm.h"
#include "espalier/ops/lstm_memory.h"
#include "espalier/ops/op.h"
#include "espalier/ops/sigmoid.h"

namespace espalier {
namespace ops {

/// The output of an LSTM in one pass. Forward leaves sigmoid(o) and tanh(c).
struct LstmOutput {
  static constexpr std::string_view kName = "lstm_output";
  static constexpr std::string_view kContract = "y = sigmoid(o) tanh(c), elementwise";
  static constexpr Kind kKind = Kind::kReduce;  // what it leaves for backward keeps it from being a map
  static constexpr std::array kInputs{Input{"o", Role::kStacked}, Input{"c", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_same_shape("o", "c");
    return in["o"];
  }
  static std::int64_t saved(const Attrs&, const InputShapes& in) { return 2 * in["o"].elements(); }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::tanh;
    for (std::size_t j = 0; j < y.size(); ++j) y[j] = Sigmoid::value<T>({}, {}, in[0][j]) * tanh(in[1][j]);
  }
  static bool overwrites(std::size_t operand) { return operand == 0; }
  static std::int64_t saved_in_place(const Attrs&, const InputShapes& in) { return in["o"].elements(); }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) { kernels::lstm_output(rows_of(in, out)); }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    kernels::lstm_output_gradient(rows_of(saved, grads));
  }
  static Samples samples() {
    return {gives<LstmOutput>({Tensor({2}, {0, 1}), Tensor({2}, {1, 0})}, Tensor({2}, {0.380797F, 0})),
            works_on<LstmOutput>({{7}, {7}}), works_on<LstmOutput>({{2, 9}, {2, 9}}), works_on<LstmOutput>({{}, {}})};
  }
  static Refusals refusals() {
    return {refuses<LstmOutput>({{3}, {4}}, "lstm_output: shape of o ([3]) and shape of c ([4]) differ")};
  }

 private:
  static kernels::LstmOutputRows rows_of(const StepIn& in, const StepOut& out) {
    kernels::LstmOutputRows rows{in[0], in[1], out.y, {}, {}};
    if (out.saved.data == nullptr) return rows;
    rows.tanh_c = part_of(out.saved, out.in_place ? 0 : 1, out.y.width);
    rows.opened = part_of(out.saved, 0, out.y.width);
    if (out.in_place)
      rows.opened = {const_cast<float*>(in[0].data), in[0].count, in[0].width, in[0].stride, in[0].offsets};
    return rows;
  }
  static kernels::LstmOutputGradients rows_of(const Saved& saved, const Grads& grads) {
    const std::int64_t width = saved.dy.width;
    return {saved.in_place ? saved.in[0] : part_of(saved.saved, 0, width),
            part_of(saved.saved, saved.in_place ? 0 : 1, width), saved.dy, target_of(grads[0]), target_of(grads[1])};
  }
};

}  // namespace ops

/// sigmoid(o) tanh(c), elementwise.
inline Expr lstm_output(Operand o, Operand c) { return ops::record<ops::LstmOutput>({o, c}); }

}  // namespace espalier
