#pragma once

#include <string>

#include "espalier/ops/axis_sum.h"
#include "espalier/ops/one_operand.h"
#include "espalier/ops/reshape.h"

namespace espalier {
namespace ops {

struct MeanAxis {
  static constexpr std::string_view kName = "mean_axis";
  static constexpr std::string_view kContract = "y = mean of x over an axis   x: [..., n, ...]   ->   y: [..., ...]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = AxisAttrs;
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_axis("x", attrs.axis);
    if (in["x"][attrs.axis] == 0)
      in.refuse("axis " + std::to_string(attrs.axis) + " of x " + in["x"].to_string() + " has no elements");
    return in["x"].without(attrs.axis);
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const AxisView view(in.shape(0), attrs.axis);
    for (std::size_t o = 0; o < view.outer; ++o)
      for (std::size_t i = 0; i < view.inner; ++i) {
        T sum = 0;
        for (std::size_t s = 0; s < view.size; ++s) sum += in[0][(o * view.size + s) * view.inner + i];
        y[o * view.inner + i] = sum / static_cast<T>(static_cast<double>(view.size));
      }
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const AxisView view(in.shape(0), attrs.axis);
    axis_sum(view, 1.0F / static_cast<float>(view.size), in, out.y);
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    const AxisView view(saved.in.shape(0), attrs.axis);
    axis_sum_backward(view, 1.0F / static_cast<float>(view.size), saved.dy, grads[0]);
  }
  static Samples samples() {
    const Tensor x({2, 3}, {1, 2, 3, 4, 5, 9});
    return {gives<MeanAxis>({x}, Tensor({3}, {2.5F, 3.5F, 6}), {0}),
            gives<MeanAxis>({x}, Tensor({2}, {2, 6}), {1}),
            works_on<MeanAxis>({{1}}, {0}),
            works_on<MeanAxis>({{37}}, {0}),
            works_on<MeanAxis>({{5, 7}}, {0}),
            works_on<MeanAxis>({{5, 7}}, {1}),
            works_on<MeanAxis>({{2, 3, 4, 5}}, {1}),
            works_on<MeanAxis>({{2, 3, 4, 5}}, {3})};
  }
  static Refusals refusals() {
    return {refuses<MeanAxis>({{}}, "mean_axis: axis 0 is outside x [] (rank 0)", {0}),
            refuses<MeanAxis>({{2, 3}}, "mean_axis: axis 2 is outside x [2, 3] (rank 2)", {2}),
            refuses<MeanAxis>({{2, 3}}, "mean_axis: axis -3 is outside x [2, 3] (rank 2)", {-3}),
            refuses<MeanAxis>({{0, 3}}, "mean_axis: axis 0 of x [0, 3] has no elements", {0})};
  }
};

}  // namespace ops

/// The mean over an axis, which is removed; a negative axis counts from the last.
inline Expr mean(Operand x, std::int32_t axis) {
  return ops::record<ops::MeanAxis>({x}, {ops::axis_of<ops::MeanAxis>(x, axis)});
}
/// The mean of all elements of x, of rank 0. The same as mean(x).
inline Expr mean_elements(Operand x) { return mean(x.at(ops::flatten_for("mean", x)), 0); }
/// The mean of all elements of x, of rank 0; of a node with many rows, the mean of each row. For the mean of several
/// tensors, or of all rows of a node, give a list: mean({x, y}), mean({x}).
template <ops::OneOperand T>
Expr mean(const T& x, ops::CallLine line = ops::CallLine()) {
  return mean_elements(ops::operand_of(x, line));
}

}  // namespace espalier
