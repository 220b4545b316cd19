#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_ELU_H_
#define ESPALIER_OPS_ELU_H_

#include <cmath>
#include <limits>

#include "espalier/ops/map.h"
#include "espalier/ops/number_text.h"

namespace espalier {
namespace ops {

struct EluAttrs {
  double alpha = 1;
  bool operator==(const EluAttrs&) const = default;
};

struct Elu : UnaryMap<Elu, EluAttrs> {
  static constexpr std::string_view kName = "elu";
  static constexpr std::string_view kContract = "y = x if x > 0, else alpha * (e^x - 1)";
  static constexpr Keep kKeep{.output = true};

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    // The sign of y tells that of x only then.
    if (!(attrs.alpha >= 0) || !std::isfinite(attrs.alpha))
      in.refuse("alpha must be finite and 0 or more, and it is " + number_text(attrs.alpha));
    return in["x"];
  }
  template <class T>
  static T value(const Attrs& attrs, const Fields&, const T& x) {
    using std::expm1;
    return x > T(0) ? x : static_cast<T>(attrs.alpha) * expm1(x);
  }

  static Samples samples() {
    return {gives<Elu>({Tensor({4}, {0, 2, -1, 0.5F})}, Tensor({4}, {0, 2, -1.2642411F, 0.5F}), {2}),
            works_on<Elu>({{7}}), works_on<Elu>({{}}), works_on<Elu>({{3, 5}}, {0.5})};
  }
  static Refusals refusals() {
    return {refuses<Elu>({{3}}, "elu: alpha must be finite and 0 or more, and it is -1.5", {-1.5}),
            refuses<Elu>({{3}}, "elu: alpha must be finite and 0 or more, and it is nan",
                         {std::numeric_limits<double>::quiet_NaN()})};
  }
};

}  // namespace ops

/// x, or alpha (e^x - 1) where x is negative (Clevert, Unterthiner and Hochreiter, 2016).
inline Expr elu(Operand x, double alpha = 1) { return ops::record<ops::Elu>({x}, {alpha}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_ELU_H_
#else

template <>
struct VectorMap<Elu> {
  static HWY_INLINE FloatVector value(FloatTag d, const EluAttrs& attrs, const None&, FloatVector x) {
    const auto bent = hn::Mul(hn::Set(d, static_cast<float>(attrs.alpha)), kn::Expm1(d, x));
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, bent);
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const EluAttrs& attrs, const None&, FloatVector, FloatVector y) {
    const auto bent = hn::Add(y, hn::Set(d, static_cast<float>(attrs.alpha)));
    return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), hn::Set(d, 1.0F), bent);
  }
};

#endif
