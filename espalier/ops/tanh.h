#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_TANH_H_
#define ESPALIER_OPS_TANH_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Tanh : UnaryMap<Tanh> {
  static constexpr std::string_view kName = "tanh";
  static constexpr std::string_view kContract = "y = tanh(x)";
  static constexpr Keep kKeep{.output = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::tanh;
    return tanh(x);
  }

  static Samples samples() {
    return {gives<Tanh>({Tensor({3}, {0, 0.5F, -1})}, Tensor({3}, {0, 0.46211716F, -0.76159416F})),
            works_on<Tanh>({{7}}), works_on<Tanh>({{}}), works_on<Tanh>({{3, 5}})};
  }
};

}  // namespace ops

/// tanh of every element.
inline Expr tanh(Operand x) { return ops::record<ops::Tanh>(x); }

}  // namespace espalier

#endif  // ESPALIER_OPS_TANH_H_
#else

template <>
struct VectorMap<Tanh> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) { return kn::Tanh(d, x); }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector, FloatVector y) {
    return hn::NegMulAdd(y, y, hn::Set(d, 1.0F));
  }
};

#endif
