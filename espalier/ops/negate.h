#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_NEGATE_H_
#define ESPALIER_OPS_NEGATE_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Negate : UnaryMap<Negate> {
  static constexpr std::string_view kName = "negate";
  static constexpr std::string_view kContract = "y = -x";
  static constexpr Keep kKeep{};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    return -x;
  }

  static Samples samples() {
    return {gives<Negate>({Tensor({3}, {2, 0, -3})}, Tensor({3}, {-2, 0, 3})), works_on<Negate>({{7}}),
            works_on<Negate>({{}}), works_on<Negate>({{3, 5}})};
  }
};

}  // namespace ops

/// -x, elementwise.
inline Expr negate(Operand x) { return ops::record<ops::Negate>({x}); }
inline Expr operator-(Operand x) { return negate(x); }

}  // namespace espalier

#endif  // ESPALIER_OPS_NEGATE_H_
#else

template <>
struct VectorMap<Negate> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector x) { return hn::Neg(x); }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector, FloatVector) {
    return hn::Set(d, -1.0F);
  }
};

#endif
