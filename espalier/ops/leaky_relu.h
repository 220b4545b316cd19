#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_LEAKY_RELU_H_
#define ESPALIER_OPS_LEAKY_RELU_H_

#include <cmath>
#include <limits>

#include "espalier/ops/map.h"
#include "espalier/ops/number_text.h"

namespace espalier {
namespace ops {

struct LeakyReluAttrs {
  double slope = 0.01;
  bool operator==(const LeakyReluAttrs&) const = default;
};

struct LeakyRelu : UnaryMap<LeakyRelu, LeakyReluAttrs> {
  static constexpr std::string_view kName = "leaky_relu";
  static constexpr std::string_view kContract = "y = x if x > 0, else slope * x";
  static constexpr Keep kKeep{.inputs = true};

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    if (!std::isfinite(attrs.slope)) in.refuse("slope must be a finite number, and it is " + number_text(attrs.slope));
    return in["x"];
  }
  template <class T>
  static T value(const Attrs& attrs, const Fields&, const T& x) {
    return x > T(0) ? x : static_cast<T>(attrs.slope) * x;
  }

  static Samples samples() {
    return {gives<LeakyRelu>({Tensor({4}, {0, 2, -3, 0.5F})}, Tensor({4}, {0, 2, -0.75F, 0.5F}), {0.25}),
            works_on<LeakyRelu>({{7}}), works_on<LeakyRelu>({{}}), works_on<LeakyRelu>({{3, 5}}, {-0.5})};
  }
  static Refusals refusals() {
    return {refuses<LeakyRelu>({{3}}, "leaky_relu: slope must be a finite number, and it is inf",
                               {std::numeric_limits<double>::infinity()})};
  }
};

}  // namespace ops

/// x, or slope * x where x is negative.
inline Expr leaky_relu(Operand x, double slope = 0.01) { return ops::record<ops::LeakyRelu>({x}, {slope}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_LEAKY_RELU_H_
#else

template <>
struct VectorMap<LeakyRelu> {
  static HWY_INLINE FloatVector value(FloatTag d, const LeakyReluAttrs& attrs, const None&, FloatVector x) {
    const auto scaled = hn::Mul(hn::Set(d, static_cast<float>(attrs.slope)), x);
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, scaled);
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const LeakyReluAttrs& attrs, const None&, FloatVector x,
                                      FloatVector) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0F), hn::Set(d, static_cast<float>(attrs.slope)));
  }
};

#endif
