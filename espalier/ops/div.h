#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_DIV_H_
#define ESPALIER_OPS_DIV_H_

#include "espalier/ops/map.h"
#include "espalier/ops/scalar_operands.h"

namespace espalier {
namespace ops {

struct Div : BinaryMap<Div> {
  static constexpr std::string_view kName = "div";
  static constexpr std::string_view kContract = "y = a / b, elementwise";
  static constexpr Keep kKeep{.only = {"b"}, .output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& a, const T& b) {
    return a / b;
  }

  static Samples samples() {
    return {gives<Div>({Tensor({3}, {2, -3, 0}), Tensor({3}, {8, 0.5F, -4})}, Tensor({3}, {0.25F, -6, 0})),
            works_on<Div>({{5}, {5}}).between(0.5, 2), works_on<Div>({{}, {}}).between(0.5, 2),
            works_on<Div>({{2, 9}, {2, 9}}).between(-2, -0.5)};
  }
};

}  // namespace ops

/// The elementwise quotient; an operand of rank 0 is broadcast.
inline Expr div(Operand a, Operand b) { return ops::record_broadcasting<ops::Div>(a, b); }
inline Expr operator/(Operand a, Operand b) { return div(a, b); }

}  // namespace espalier

#endif  // ESPALIER_OPS_DIV_H_
#else

template <>
struct VectorMap<Div> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector a, FloatVector b) {
    return hn::Div(a, b);
  }
  static HWY_INLINE void slopes(FloatTag d, const None&, const None&, FloatVector, FloatVector b, FloatVector y,
                                FloatVector& by_a, FloatVector& by_b) {
    by_a = hn::Div(hn::Set(d, 1.0F), b);
    by_b = hn::Neg(hn::Div(y, b));
  }
};

#endif
