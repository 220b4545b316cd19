#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SCALE_H_
#define ESPALIER_OPS_SCALE_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct ScaleFields {
  double factor = 1;
};

/// The factor is a field: nodes with different factors run together.
struct Scale : UnaryMap<Scale, None, ScaleFields> {
  static constexpr std::string_view kName = "scale";
  static constexpr std::string_view kContract = "y = factor * x";
  static constexpr Keep kKeep{};

  template <class T>
  static T value(const Attrs&, const Fields& fields, const T& x) {
    return static_cast<T>(fields.factor) * x;
  }

  static Samples samples() {
    return {gives<Scale>({Tensor({2}, {2, -3})}, Tensor({2}, {5, -7.5F}), {}, {2.5}),
            works_on<Scale>({{5}}, {}, {-0.5})};
  }
};

}  // namespace ops

/// A constant times every element.
inline Expr scale(Operand x, double factor) { return ops::record<ops::Scale>({x}, {}, {factor}); }
inline Expr operator*(Operand x, double factor) { return scale(x, factor); }
inline Expr operator*(double factor, Operand x) { return scale(x, factor); }
inline Expr operator/(Operand x, double divisor) { return scale(x, 1 / divisor); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SCALE_H_
#else

template <>
struct VectorMap<Scale> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const ScaleFields& fields, FloatVector x) {
    return hn::Mul(hn::Set(d, static_cast<float>(fields.factor)), x);
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const ScaleFields& fields, FloatVector, FloatVector) {
    return hn::Set(d, static_cast<float>(fields.factor));
  }
};

#endif
