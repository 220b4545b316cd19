#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_RECIPROCAL_H_
#define ESPALIER_OPS_RECIPROCAL_H_

#include "espalier/ops/map.h"
#include "espalier/ops/scale.h"

namespace espalier {
namespace ops {

struct Reciprocal : UnaryMap<Reciprocal> {
  static constexpr std::string_view kName = "reciprocal";
  static constexpr std::string_view kContract = "y = 1 / x";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    return T(1) / x;
  }

  static Samples samples() {
    return {gives<Reciprocal>({Tensor({3}, {1, -4, 0.125F})}, Tensor({3}, {1, -0.25F, 8})),
            works_on<Reciprocal>({{7}}).between(0.5, 2), works_on<Reciprocal>({{}}).between(0.5, 2),
            works_on<Reciprocal>({{3, 5}}).between(-2, -0.5)};
  }
};

}  // namespace ops

/// 1 divided by every element.
inline Expr reciprocal(Operand x) { return ops::record<ops::Reciprocal>({x}); }
/// A constant divided by every element.
inline Expr operator/(double constant, Operand x) {
  const Expr inverse = reciprocal(x);
  return constant == 1 ? inverse : scale(x.at(inverse), constant);
}

}  // namespace espalier

#endif  // ESPALIER_OPS_RECIPROCAL_H_
#else

template <>
struct VectorMap<Reciprocal> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) {
    return hn::Div(hn::Set(d, 1.0F), x);
  }
  static HWY_INLINE FloatVector slope(FloatTag, const None&, const None&, FloatVector, FloatVector y) {
    return hn::Neg(hn::Mul(y, y));
  }
};

#endif
