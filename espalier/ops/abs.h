#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_ABS_H_
#define ESPALIER_OPS_ABS_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Abs : UnaryMap<Abs> {
  static constexpr std::string_view kName = "abs";
  static constexpr std::string_view kContract = "y = |x|; slope 0 at 0";
  static constexpr Keep kKeep{.inputs = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    if (x == T(0)) return T(0);
    return x < T(0) ? -x : x;
  }

  static Samples samples() {
    return {gives<Abs>({Tensor({3}, {0, -3, 0.5F})}, Tensor({3}, {0, 3, 0.5F})), works_on<Abs>({{7}}),
            works_on<Abs>({{}}), works_on<Abs>({{3, 5}})};
  }
};

}  // namespace ops

/// The absolute value of every element.
inline Expr abs(Operand x) { return ops::record<ops::Abs>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_ABS_H_
#else

template <>
struct VectorMap<Abs> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector x) { return hn::Abs(x); }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector x, FloatVector) {
    const auto zero = hn::Zero(d);
    const auto sign = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, -1.0F), hn::Set(d, 1.0F));
    return hn::IfThenZeroElse(hn::Eq(x, zero), sign);
  }
};

#endif
