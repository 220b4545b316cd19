#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SOFTPLUS_H_
#define ESPALIER_OPS_SOFTPLUS_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Softplus : UnaryMap<Softplus> {
  static constexpr std::string_view kName = "softplus";
  static constexpr std::string_view kContract = "y = log(1 + e^x)";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::exp;
    using std::log1p;
    return x > T(0) ? x + log1p(exp(-x)) : log1p(exp(x));
  }

  static Samples samples() {
    return {gives<Softplus>({Tensor({3}, {0, 1, -2})}, Tensor({3}, {0.69314718F, 1.3132617F, 0.126928F})),
            works_on<Softplus>({{7}}), works_on<Softplus>({{}}), works_on<Softplus>({{3, 5}}),
            works_on<Softplus>({{9}}).between(-30, 30)};
  }
};

}  // namespace ops

/// log(1 + e^x) of every element: a smooth relu.
inline Expr softplus(Operand x) { return ops::record<ops::Softplus>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SOFTPLUS_H_
#else

template <>
struct VectorMap<Softplus> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) {
    return kn::Softplus(d, x);
  }
  /// sigmoid(x) = 1 - e^-y
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector, FloatVector y) {
    return hn::Neg(kn::Expm1(d, hn::Neg(y)));
  }
};

#endif
