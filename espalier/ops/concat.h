#pragma once

#include <string>

#include "espalier/ops/axis.h"
#include "espalier/ops/interleave.h"

namespace espalier {
namespace ops {

struct Concat {
  static constexpr std::string_view kName = "concat";
  static constexpr std::string_view kContract =
      "y = x[0], x[1], ... one after the other along an axis   x[i]: [..., n_i, ...]   ->   y: [..., sum of n_i, ...]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kMany}};
  static constexpr Keep kKeep{};
  using Attrs = AxisAttrs;
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_axis("x", attrs.axis);
    std::int64_t size = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i].rank() != in[0].rank() || in[i].with(attrs.axis, 0) != in[0].with(attrs.axis, 0))
        in.refuse("x[0] is " + in[0].to_string() + " and x[" + std::to_string(i) + "] is " + in[i].to_string() +
                  "; they may differ along axis " + std::to_string(attrs.axis) + " only");
      size += in[i][attrs.axis];
    }
    return in[0].with(attrs.axis, size);
  }
  static bool side_by_side(const Attrs& attrs, const InputShapes& in) { return AxisView(in[0], attrs.axis).outer == 1; }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    plain_interleave(AxisView(in.shape(0), attrs.axis).outer, in, y);
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    interleave(AxisView(in.shape(0), attrs.axis).outer, in, out.y);
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    interleave_backward(AxisView(saved.in.shape(0), attrs.axis).outer, saved, grads);
  }
  static Samples samples() {
    const Tensor a({2, 2}, {1, 2, 3, 4});
    return {gives<Concat>({Tensor({2}, {1, 2}), Tensor({1}, {3})}, Tensor({3}, {1, 2, 3})),
            gives<Concat>({a, Tensor({1, 2}, {5, 6})}, Tensor({3, 2}, {1, 2, 3, 4, 5, 6}), {0}),
            gives<Concat>({a, Tensor({2, 1}, {5, 6})}, Tensor({2, 3}, {1, 2, 5, 3, 4, 6}), {1}),
            works_on<Concat>({{7}}),
            works_on<Concat>({{7}, {1}, {9}}),
            works_on<Concat>({{2, 3}, {4, 3}}, {0}),
            works_on<Concat>({{2, 3, 2}, {2, 1, 2}, {2, 5, 2}}, {1}),
            works_on<Concat>({{3, 2}, {3, 2}}, {1})};
  }
  static Refusals refusals() {
    return {
        refuses<Concat>({}, "concat: needs at least one operand"),
        refuses<Concat>({{}, {}}, "concat: axis 0 is outside x [] (rank 0)"),
        refuses<Concat>({{3}, {2}}, "concat: axis 1 is outside x [3] (rank 1)", {1}),
        refuses<Concat>({{2, 3}, {2, 3}, {3, 3}},
                        "concat: x[0] is [2, 3] and x[2] is [3, 3]; they may differ along axis 1 only", {1}),
        refuses<Concat>({{2}, {2, 3}}, "concat: x[0] is [2] and x[1] is [2, 3]; they may differ along axis 0 only")};
  }
};

}  // namespace ops

/// Concatenates any number of tensors along an axis; a negative axis counts from the last.
inline Expr concat(const Operands& x, std::int32_t axis = 0) {
  return ops::record<ops::Concat>(x, {ops::axis_of<ops::Concat>(x, axis)});
}

}  // namespace espalier
