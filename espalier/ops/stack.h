#pragma once

#include <string>

#include "espalier/ops/axis.h"
#include "espalier/ops/interleave.h"

namespace espalier {
namespace ops {

struct Stack {
  static constexpr std::string_view kName = "stack";
  static constexpr std::string_view kContract =
      "y = x[0], x[1], ... along a new axis   x[i]: [..., ...]   ->   y: [..., how many, ...]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kMany}};
  static constexpr Keep kKeep{};
  using Attrs = AxisAttrs;
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    const std::int32_t rank = in[0].rank();
    if (rank == kMaxRank)
      in.refuse("x " + in[0].to_string() + " has rank " + std::to_string(rank) +
                ", and the result can have no more than " + std::to_string(kMaxRank));
    if (attrs.axis < 0 || attrs.axis > rank)
      in.refuse("axis " + std::to_string(attrs.axis) + " is outside the result (rank " + std::to_string(rank + 1) +
                ")");
    for (std::size_t i = 1; i < in.size(); ++i)
      if (in[i] != in[0])
        in.refuse("x[0] is " + in[0].to_string() + " and x[" + std::to_string(i) + "] is " + in[i].to_string() +
                  "; all must be equal");
    return in[0].inserted(attrs.axis, static_cast<std::int64_t>(in.size()));
  }
  static bool side_by_side(const Attrs& attrs, const InputShapes&) { return attrs.axis == 0; }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    plain_interleave(AxisView(in.out, attrs.axis).outer, in, y);
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    interleave(AxisView(*in.out, attrs.axis).outer, in, out.y);
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    interleave_backward(AxisView(*saved.in.out, attrs.axis).outer, saved, grads);
  }
  static Samples samples() {
    const Tensor a({2}, {1, 2});
    const Tensor b({2}, {3, 4});
    return {gives<Stack>({a, b}, Tensor({2, 2}, {1, 2, 3, 4})),
            gives<Stack>({a, b}, Tensor({2, 2}, {1, 3, 2, 4}), {1}),
            gives<Stack>({Tensor({}, {1}), Tensor({}, {2}), Tensor({}, {3})}, Tensor({3}, {1, 2, 3})),
            works_on<Stack>({{7}}),
            works_on<Stack>({{}}),
            works_on<Stack>({{3, 2}, {3, 2}, {3, 2}}, {1}),
            works_on<Stack>({{2, 3, 5}, {2, 3, 5}}, {3})};
  }
  static Refusals refusals() {
    return {refuses<Stack>({}, "stack: needs at least one operand"),
            refuses<Stack>({{2}, {2}, {3}}, "stack: x[0] is [2] and x[2] is [3]; all must be equal"),
            refuses<Stack>({{2}}, "stack: axis 2 is outside the result (rank 2)", {2}),
            refuses<Stack>({{2}}, "stack: axis -3 is outside the result (rank 2)", {-3}),
            refuses<Stack>({{2, 2, 2, 2}}, "stack: x [2, 2, 2, 2] has rank 4, and the result can have no more than 4")};
  }
};

}  // namespace ops

/// Any number of tensors of one shape along a new axis, the first unless said; a negative axis counts from the last.
inline Expr stack(const Operands& x, std::int32_t axis = 0) {
  return ops::record<ops::Stack>(x, {ops::axis_of<ops::Stack>(x, axis, /*more_axes=*/1)});
}

}  // namespace espalier
