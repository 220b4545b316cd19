#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_EXP_H_
#define ESPALIER_OPS_EXP_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Exp : UnaryMap<Exp> {
  static constexpr std::string_view kName = "exp";
  static constexpr std::string_view kContract = "y = e^x";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::exp;
    return exp(x);
  }

  static Samples samples() {
    return {gives<Exp>({Tensor({3}, {0, 1, -2})}, Tensor({3}, {1, 2.7182818F, 0.13533528F})), works_on<Exp>({{7}}),
            works_on<Exp>({{}}), works_on<Exp>({{3, 5}})};
  }
};

}  // namespace ops

/// e^x, elementwise.
inline Expr exp(Operand x) { return ops::record<ops::Exp>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_EXP_H_
#else

template <>
struct VectorMap<Exp> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) { return kn::Exp(d, x); }
  static HWY_INLINE FloatVector slope(FloatTag, const None&, const None&, FloatVector, FloatVector y) { return y; }
};

#endif
