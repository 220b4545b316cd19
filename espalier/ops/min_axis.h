#pragma once

#include "espalier/ops/extreme.h"

namespace espalier {
namespace ops {

struct MinAxis : ExtremeOverAxis<Smallest> {
  static constexpr std::string_view kName = "min_axis";
  static constexpr std::string_view kContract = "y = min of x over an axis   x: [..., n, ...]   ->   y: [..., ...]";

  static Samples samples() {
    const Tensor x({2, 3}, {1, 7, -3, 4, 2, 0});
    return {gives<MinAxis>({x}, Tensor({3}, {1, 2, -3}), {0}),
            gives<MinAxis>({x}, Tensor({2}, {-3, 0}), {1}),
            works_on<MinAxis>({{1}}, {0}),
            works_on<MinAxis>({{37}}, {0}),
            works_on<MinAxis>({{5, 7}}, {0}),
            works_on<MinAxis>({{5, 7}}, {1}),
            works_on<MinAxis>({{2, 3, 4, 5}}, {1}),
            works_on<MinAxis>({{2, 3, 4, 5}}, {3})};
  }
  static Refusals refusals() {
    return {refuses<MinAxis>({{}}, "min_axis: axis 0 is outside x [] (rank 0)", {0}),
            refuses<MinAxis>({{2, 3}}, "min_axis: axis 2 is outside x [2, 3] (rank 2)", {2}),
            refuses<MinAxis>({{2, 3}}, "min_axis: axis -3 is outside x [2, 3] (rank 2)", {-3}),
            refuses<MinAxis>({{2, 0}}, "min_axis: axis 1 of x [2, 0] has no elements", {1})};
  }
};

}  // namespace ops

/// The minimum over an axis, which is removed; a negative axis counts from the last. NaN passes; of equal elements the
/// first gets the gradient.
inline Expr min(Operand x, std::int32_t axis) {
  return ops::record<ops::MinAxis>({x}, {ops::axis_of<ops::MinAxis>(x, axis)});
}

}  // namespace espalier
