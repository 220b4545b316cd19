#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SILU_H_
#define ESPALIER_OPS_SILU_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Silu : UnaryMap<Silu> {
  static constexpr std::string_view kName = "silu";
  static constexpr std::string_view kContract = "y = x / (1 + e^-x)";
  static constexpr Keep kKeep{.inputs = true, .output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::exp;
    return x / (T(1) + exp(-x));
  }

  static Samples samples() {
    // x times the logistic function of x.
    return {gives<Silu>({Tensor({3}, {0, 1, -2})}, Tensor({3}, {0, 0.73105858F, -0.23840584F})), works_on<Silu>({{7}}),
            works_on<Silu>({{}}), works_on<Silu>({{3, 5}}), works_on<Silu>({{9}}).between(-30, 30)};
  }
};

}  // namespace ops

/// Every element times its logistic function (Hendrycks and Gimpel, 2016); also known as swish.
inline Expr silu(Operand x) { return ops::record<ops::Silu>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SILU_H_
#else

template <>
struct VectorMap<Silu> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) {
    return hn::Mul(x, kn::Sigmoid(d, x));
  }
  // With s = sigmoid(x): s + x s (1 - s) = s + y (1 - s).
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector x, FloatVector y) {
    const auto s = kn::Sigmoid(d, x);
    return hn::MulAdd(y, hn::Sub(hn::Set(d, 1.0F), s), s);
  }
};

#endif
