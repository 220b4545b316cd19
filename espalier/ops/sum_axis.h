#pragma once

#include "espalier/ops/axis_sum.h"
#include "espalier/ops/one_operand.h"
#include "espalier/ops/reshape.h"

namespace espalier {
namespace ops {

struct SumAxis {
  static constexpr std::string_view kName = "sum_axis";
  static constexpr std::string_view kContract = "y = sum of x over an axis   x: [..., n, ...]   ->   y: [..., ...]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = AxisAttrs;
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_axis("x", attrs.axis);
    return in["x"].without(attrs.axis);
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const AxisView view(in.shape(0), attrs.axis);
    for (std::size_t o = 0; o < view.outer; ++o)
      for (std::size_t i = 0; i < view.inner; ++i) {
        T sum = 0;
        for (std::size_t s = 0; s < view.size; ++s) sum += in[0][(o * view.size + s) * view.inner + i];
        y[o * view.inner + i] = sum;
      }
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    axis_sum(AxisView(in.shape(0), attrs.axis), 1, in, out.y);
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    axis_sum_backward(AxisView(saved.in.shape(0), attrs.axis), 1, saved.dy, grads[0]);
  }
  static Samples samples() {
    const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
    return {gives<SumAxis>({x}, Tensor({3}, {5, 7, 9}), {0}),
            gives<SumAxis>({x}, Tensor({2}, {6, 15}), {1}),
            works_on<SumAxis>({{1}}, {0}),
            works_on<SumAxis>({{37}}, {0}),
            works_on<SumAxis>({{5, 7}}, {0}),
            works_on<SumAxis>({{5, 7}}, {1}),
            works_on<SumAxis>({{2, 3, 4, 5}}, {1}),
            works_on<SumAxis>({{2, 3, 4, 5}}, {3})};
  }
  static Refusals refusals() {
    return {refuses<SumAxis>({{}}, "sum_axis: axis 0 is outside x [] (rank 0)", {0}),
            refuses<SumAxis>({{2, 3}}, "sum_axis: axis 2 is outside x [2, 3] (rank 2)", {2}),
            refuses<SumAxis>({{2, 3}}, "sum_axis: axis -3 is outside x [2, 3] (rank 2)", {-3})};
  }
};

}  // namespace ops

/// The sum over an axis, which is removed; a negative axis counts from the last.
inline Expr sum(Operand x, std::int32_t axis) {
  return ops::record<ops::SumAxis>({x}, {ops::axis_of<ops::SumAxis>(x, axis)});
}
/// The sum of all elements of x, of rank 0. The same as sum(x).
inline Expr sum_elements(Operand x) { return sum(x.at(ops::flatten_for("sum", x)), 0); }
/// The sum of all elements of x, of rank 0; of a node with many rows, the sum of each row. To add several tensors, or
/// all rows of a node, give a list: sum({x, y}), sum({x}).
template <ops::OneOperand T>
Expr sum(const T& x, ops::CallLine line = ops::CallLine()) {
  return sum_elements(ops::operand_of(x, line));
}

}  // namespace espalier
