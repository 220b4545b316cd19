#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "espalier/kernels/cross_entropy.h"
#include "espalier/kernels/math.h"
#include "espalier/ops/last_axis.h"

namespace espalier {
namespace ops {

/// The label is a field: nodes with different labels run together. Forward leaves log_softmax(x).
struct CrossEntropy {
  static constexpr std::string_view kName = "cross_entropy";
  static constexpr std::string_view kContract = "y = -log(softmax(x)[label])   x: [n]   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  struct Fields {
    std::int32_t label = 0;
  };

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    in.require(in["x"][0] > 0, "x [0] has no elements");
    return {};
  }
  static std::int32_t choices(const Attrs&, const InputShapes& in) { return in["x"][0]; }
  static void check(const Attrs&, const Fields& fields, const InputShapes& in) {
    const std::int32_t classes = in["x"][0];
    if (fields.label < 0 || fields.label >= classes)
      in.refuse("label " + std::to_string(fields.label) + " is outside x " + in["x"].to_string() + " (labels 0 to " +
                std::to_string(classes - 1) + ")");
  }
  static std::int64_t saved(const Attrs&, const InputShapes& in) { return in["x"][0]; }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    using std::exp;
    using std::log;
    const T most = largest(in[0]);
    T total = 0;
    for (const T& x : in[0]) total += exp(x - most);
    y[0] = (most - in[0][static_cast<std::size_t>(fields.label)]) + log(total);
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    if (in[0].width <= kernels::kFewClasses) return kernels::cross_entropy(in[0], labels(in), out.saved, out.y);
    const auto width = static_cast<std::size_t>(in[0].width);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      kernels::log_softmax({in[0][r], width}, {out.saved[r], width});
      out.y[r][0] = -out.saved[r][in.fields<Fields>(r).label];
    }
  }
  // dx = dy (softmax(x) - 1 at the label)
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    if (saved.saved.width <= kernels::kFewClasses)
      return kernels::cross_entropy_gradient(saved.saved, labels(saved.in), saved.dy, grads[0].rows(),
                                             grads[0].stores());
    thread_local std::vector<float> slopes;
    slopes.resize(static_cast<std::size_t>(saved.saved.width));
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      kernels::exp({saved.saved[r], slopes.size()}, slopes);
      // Near probability 1 the difference is all rounding; expm1 keeps it exact.
      const std::int32_t label = saved.in.fields<Fields>(r).label;
      slopes[static_cast<std::size_t>(label)] = std::expm1(saved.saved[r][label]);
      grads[0].add_scaled(r, saved.dy[r][0], slopes.data());
    }
  }
  static Samples samples() {
    return {gives<CrossEntropy>({Tensor({3}, {0, 1, 2})}, Tensor({}, {1.4076059F}), {}, {1}),
            gives<CrossEntropy>({Tensor({2}, {-1000, 1000})}, Tensor({}, {2000}), {}, {0}),
            works_on<CrossEntropy>({{1}}, {}, {0}), works_on<CrossEntropy>({{5}}, {}, {4}),
            works_on<CrossEntropy>({{77}}, {}, {13})};
  }
  static Refusals refusals() {
    return {refuses<CrossEntropy>({{3}}, "cross_entropy: label 3 is outside x [3] (labels 0 to 2)", {}, {3}),
            refuses<CrossEntropy>({{3}}, "cross_entropy: label -1 is outside x [3] (labels 0 to 2)", {}, {-1}),
            refuses<CrossEntropy>({{3, 3}}, "cross_entropy: x must have rank 1, and [3, 3] has rank 2"),
            refuses<CrossEntropy>({{0}}, "cross_entropy: x [0] has no elements")};
  }

 private:
  /// Those of all rows. Valid until the next call.
  static std::span<const std::int32_t> labels(const StepIn& in) {
    thread_local std::vector<std::int32_t> all;
    all.resize(static_cast<std::size_t>(in.rows));
    for (std::int64_t r = 0; r < in.rows; ++r) all[static_cast<std::size_t>(r)] = in.fields<Fields>(r).label;
    return all;
  }
};

}  // namespace ops

/// -log of the probability that softmax(x) gives to `label`, in nats. x has one score per class.
inline Expr cross_entropy(Operand x, std::int32_t label) { return ops::record<ops::CrossEntropy>({x}, {}, {label}); }
/// The same for a node with many rows, one label per row. Refuses another number of labels.
inline Expr cross_entropy_rows(Operand x, std::span<const std::int32_t> labels) {
  const OpInfo& info = ops::info_of<ops::CrossEntropy>();
  const std::span<const Operand> list(&x, 1);
  return graph_of(info, list).record_rows(info, nullptr, labels.data(), static_cast<std::int32_t>(labels.size()), list);
}

}  // namespace espalier
