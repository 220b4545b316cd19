#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_GELU_H_
#define ESPALIER_OPS_GELU_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Gelu : UnaryMap<Gelu> {
  static constexpr std::string_view kName = "gelu";
  static constexpr std::string_view kContract = "y = x (1 + erf(x / sqrt(2))) / 2";
  static constexpr Keep kKeep{.inputs = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::erf;
    return T(0.5) * x * (T(1) + erf(x * T(0.7071067811865476)));
  }

  static Samples samples() {
    // x times the normal distribution function, from its tables.
    return {gives<Gelu>({Tensor({3}, {0, 1, -2})}, Tensor({3}, {0, 0.84134475F, -0.04550026F})), works_on<Gelu>({{7}}),
            works_on<Gelu>({{}}), works_on<Gelu>({{3, 5}}), works_on<Gelu>({{9}}).between(-6, 6)};
  }
};

}  // namespace ops

/// Every element times the probability that a normal number is below it (Hendrycks and Gimpel, 2016): the exact form.
inline Expr gelu(Operand x) { return ops::record<ops::Gelu>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_GELU_H_
#else

template <>
struct VectorMap<Gelu> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) {
    return hn::Mul(x, Below(d, x));
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector x, FloatVector) {
    constexpr float kOneOverRootTwoPi = 0.39894228F;
    const auto density = hn::Mul(hn::Set(d, kOneOverRootTwoPi), kn::Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5F))));
    return hn::MulAdd(x, density, Below(d, x));
  }

 private:
  /// The normal distribution function.
  static HWY_INLINE FloatVector Below(FloatTag d, FloatVector x) {
    const auto half = hn::Set(d, 0.5F);
    return hn::MulAdd(half, kn::Erf(d, hn::Mul(x, hn::Set(d, 0.70710678F))), half);
  }
};

#endif
