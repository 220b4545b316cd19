#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SQRT_H_
#define ESPALIER_OPS_SQRT_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Sqrt : UnaryMap<Sqrt> {
  static constexpr std::string_view kName = "sqrt";
  static constexpr std::string_view kContract = "y = sqrt(x): NaN below 0, slope inf at 0";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::sqrt;
    return sqrt(x);
  }

  static Samples samples() {
    return {gives<Sqrt>({Tensor({3}, {1, 4, 0.25F})}, Tensor({3}, {1, 2, 0.5F})), works_on<Sqrt>({{7}}).between(0.1, 4),
            works_on<Sqrt>({{}}).between(0.1, 4), works_on<Sqrt>({{3, 5}}).between(0.1, 4)};
  }
};

}  // namespace ops

/// The square root of every element.
inline Expr sqrt(Operand x) { return ops::record<ops::Sqrt>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SQRT_H_
#else

template <>
struct VectorMap<Sqrt> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector x) { return hn::Sqrt(x); }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector, FloatVector y) {
    return hn::Div(hn::Set(d, 0.5F), y);
  }
};

#endif
