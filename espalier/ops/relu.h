#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_RELU_H_
#define ESPALIER_OPS_RELU_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Relu : UnaryMap<Relu> {
  static constexpr std::string_view kName = "relu";
  static constexpr std::string_view kContract = "y = max(x, 0); slope 0 at 0";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    return x <= T(0) ? T(0) : x;  // asked this way, NaN passes
  }

  static Samples samples() {
    return {gives<Relu>({Tensor({4}, {0, 2, -3, 0.5F})}, Tensor({4}, {0, 2, 0, 0.5F})), works_on<Relu>({{7}}),
            works_on<Relu>({{}}), works_on<Relu>({{3, 5}})};
  }
};

}  // namespace ops

/// Every element, or 0 where it is negative.
inline Expr relu(Operand x) { return ops::record<ops::Relu>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_RELU_H_
#else

template <>
struct VectorMap<Relu> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector, FloatVector y) {
    return hn::IfThenZeroElse(hn::Le(y, hn::Zero(d)), hn::Set(d, 1.0F));
  }
};

#endif
