#pragma once

#include "espalier/ops/extreme.h"

namespace espalier {
namespace ops {

struct Maximum : ExtremeOfMany<Largest> {
  static constexpr std::string_view kName = "maximum";
  static constexpr std::string_view kContract = "y = max(x[0], x[1], ...), elementwise   any number of one shape";

  static Samples samples() {
    return {gives<Maximum>({Tensor({3}, {1, 2, -3}), Tensor({3}, {3, -4, 0}), Tensor({3}, {2, 2, -5})},
                           Tensor({3}, {3, 2, 0})),
            works_on<Maximum>({{3}}), works_on<Maximum>({{4}, {4}}), works_on<Maximum>({{}, {}, {}}),
            works_on<Maximum>({{2, 9}, {2, 9}, {2, 9}, {2, 9}, {2, 9}})};
  }
  static Refusals refusals() {
    return {refuses<Maximum>({}, "maximum: needs at least one operand"),
            refuses<Maximum>({{2}, {2}, {3}}, "maximum: x[0] is float32[2] and x[2] is float32[3]; all must be equal")};
  }
};

}  // namespace ops

/// The elementwise maximum of any number of tensors of one shape. The number is not part of the signature.
/// NaN passes; of equal elements the first gets the gradient.
inline Expr maximum(const Operands& x) { return ops::record<ops::Maximum>(x); }
inline Expr max(const Operands& x) { return maximum(x); }

}  // namespace espalier
