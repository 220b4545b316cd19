#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SIGMOID_H_
#define ESPALIER_OPS_SIGMOID_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Sigmoid : UnaryMap<Sigmoid> {
  static constexpr std::string_view kName = "sigmoid";
  static constexpr std::string_view kContract = "y = 1 / (1 + e^-x)";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::exp;
    // e^x / (1 + e^x) for negative x, so that small results keep their precision.
    if (x < T(0)) {
      const T e = exp(x);
      return e / (T(1) + e);
    }
    return T(1) / (T(1) + exp(-x));
  }

  static Samples samples() {
    return {gives<Sigmoid>({Tensor({3}, {0, 1, -2})}, Tensor({3}, {0.5F, 0.73105858F, 0.11920292F})),
            works_on<Sigmoid>({{7}}), works_on<Sigmoid>({{}}), works_on<Sigmoid>({{3, 5}}),
            works_on<Sigmoid>({{9}}).between(-30, 30)};
  }
};

}  // namespace ops

/// The logistic function of every element.
inline Expr sigmoid(Operand x) { return ops::record<ops::Sigmoid>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SIGMOID_H_
#else

template <>
struct VectorMap<Sigmoid> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) { return kn::Sigmoid(d, x); }
  static HWY_INLINE FloatVector slope(FloatTag, const None&, const None&, FloatVector, FloatVector y) {
    return hn::NegMulAdd(y, y, y);
  }
};

#endif
