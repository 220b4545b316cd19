#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_ONE_MINUS_H_
#define ESPALIER_OPS_ONE_MINUS_H_

#include "espalier/ops/map.h"
#include "espalier/ops/negate.h"
#include "espalier/ops/shift.h"

namespace espalier {
namespace ops {

struct OneMinus : UnaryMap<OneMinus> {
  static constexpr std::string_view kName = "one_minus";
  static constexpr std::string_view kContract = "y = 1 - x";
  static constexpr Keep kKeep{};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    return T(1) - x;
  }

  static Samples samples() {
    return {gives<OneMinus>({Tensor({3}, {0, 0.25F, -3})}, Tensor({3}, {1, 0.75F, 4})), works_on<OneMinus>({{7}}),
            works_on<OneMinus>({{}}), works_on<OneMinus>({{3, 5}})};
  }
};

}  // namespace ops

/// 1 - x, elementwise: the complement of a gate.
inline Expr one_minus(Operand x) { return ops::record<ops::OneMinus>({x}); }
/// A constant minus x, elementwise.
inline Expr operator-(double constant, Operand x) {
  return constant == 1 ? one_minus(x) : shift(x.at(negate(x)), constant);
}

}  // namespace espalier

#endif  // ESPALIER_OPS_ONE_MINUS_H_
#else

template <>
struct VectorMap<OneMinus> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) {
    return hn::Sub(hn::Set(d, 1.0F), x);
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector, FloatVector) {
    return hn::Set(d, -1.0F);
  }
};

#endif
