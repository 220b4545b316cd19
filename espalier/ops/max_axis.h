#pragma once

#include "espalier/ops/extreme.h"

namespace espalier {
namespace ops {

struct MaxAxis : ExtremeOverAxis<Largest> {
  static constexpr std::string_view kName = "max_axis";
  static constexpr std::string_view kContract = "y = max of x over an axis   x: [..., n, ...]   ->   y: [..., ...]";

  static Samples samples() {
    const Tensor x({2, 3}, {1, 7, -3, 4, 2, 0});
    return {gives<MaxAxis>({x}, Tensor({3}, {4, 7, 0}), {0}),
            gives<MaxAxis>({x}, Tensor({2}, {7, 4}), {1}),
            works_on<MaxAxis>({{1}}, {0}),
            works_on<MaxAxis>({{37}}, {0}),
            works_on<MaxAxis>({{5, 7}}, {0}),
            works_on<MaxAxis>({{5, 7}}, {1}),
            works_on<MaxAxis>({{2, 3, 4, 5}}, {1}),
            works_on<MaxAxis>({{2, 3, 4, 5}}, {3})};
  }
  static Refusals refusals() {
    return {refuses<MaxAxis>({{}}, "max_axis: axis 0 is outside x [] (rank 0)", {0}),
            refuses<MaxAxis>({{2, 3}}, "max_axis: axis 2 is outside x [2, 3] (rank 2)", {2}),
            refuses<MaxAxis>({{2, 3}}, "max_axis: axis -3 is outside x [2, 3] (rank 2)", {-3}),
            refuses<MaxAxis>({{2, 0}}, "max_axis: axis 1 of x [2, 0] has no elements", {1})};
  }
};

}  // namespace ops

/// The maximum over an axis, which is removed; a negative axis counts from the last. NaN passes; of equal elements the
/// first gets the gradient.
inline Expr max(Operand x, std::int32_t axis) {
  return ops::record<ops::MaxAxis>({x}, {ops::axis_of<ops::MaxAxis>(x, axis)});
}

}  // namespace espalier
