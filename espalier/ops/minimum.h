#pragma once

#include "espalier/ops/extreme.h"

namespace espalier {
namespace ops {

struct Minimum : ExtremeOfMany<Smallest> {
  static constexpr std::string_view kName = "minimum";
  static constexpr std::string_view kContract = "y = min(x[0], x[1], ...), elementwise   any number of one shape";

  static Samples samples() {
    return {gives<Minimum>({Tensor({3}, {1, 2, -3}), Tensor({3}, {3, -4, 0}), Tensor({3}, {2, 2, -5})},
                           Tensor({3}, {1, -4, -5})),
            works_on<Minimum>({{3}}), works_on<Minimum>({{4}, {4}}), works_on<Minimum>({{}, {}, {}}),
            works_on<Minimum>({{2, 9}, {2, 9}, {2, 9}, {2, 9}, {2, 9}})};
  }
  static Refusals refusals() {
    return {refuses<Minimum>({}, "minimum: needs at least one operand"),
            refuses<Minimum>({{2}, {2}, {3}}, "minimum: x[0] is float32[2] and x[2] is float32[3]; all must be equal")};
  }
};

}  // namespace ops

/// The elementwise minimum of any number of tensors of one shape. The number is not part of the signature.
/// NaN passes; of equal elements the first gets the gradient.
inline Expr minimum(const Operands& x) { return ops::record<ops::Minimum>(x); }
inline Expr min(const Operands& x) { return minimum(x); }

}  // namespace espalier
