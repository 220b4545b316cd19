#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SQUARE_H_
#define ESPALIER_OPS_SQUARE_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Square : UnaryMap<Square> {
  static constexpr std::string_view kName = "square";
  static constexpr std::string_view kContract = "y = x * x";
  static constexpr Keep kKeep{.inputs = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    return x * x;
  }

  static Samples samples() {
    return {gives<Square>({Tensor({3}, {0, -3, 0.5F})}, Tensor({3}, {0, 9, 0.25F})), works_on<Square>({{7}}),
            works_on<Square>({{}}), works_on<Square>({{3, 5}})};
  }
};

}  // namespace ops

/// Every element times itself.
inline Expr square(Operand x) { return ops::record<ops::Square>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SQUARE_H_
#else

template <>
struct VectorMap<Square> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector x) { return hn::Mul(x, x); }
  static HWY_INLINE FloatVector slope(FloatTag, const None&, const None&, FloatVector x, FloatVector) {
    return hn::Add(x, x);
  }
};

#endif
