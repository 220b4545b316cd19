#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_LOG_H_
#define ESPALIER_OPS_LOG_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Log : UnaryMap<Log> {
  static constexpr std::string_view kName = "log";
  static constexpr std::string_view kContract = "y = log(x), the natural logarithm: -inf at 0, NaN below";
  static constexpr Keep kKeep{.inputs = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& x) {
    using std::log;
    return log(x);
  }

  static Samples samples() {
    return {gives<Log>({Tensor({3}, {1, 2, 0.25F})}, Tensor({3}, {0, 0.69314718F, -1.3862944F})),
            works_on<Log>({{7}}).between(0.1, 4), works_on<Log>({{}}).between(0.1, 4),
            works_on<Log>({{3, 5}}).between(0.1, 4)};
  }
};

}  // namespace ops

/// The natural logarithm of every element.
inline Expr log(Operand x) { return ops::record<ops::Log>({x}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_LOG_H_
#else

template <>
struct VectorMap<Log> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector x) { return kn::Log(d, x); }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const None&, FloatVector x, FloatVector) {
    return hn::Div(hn::Set(d, 1.0F), x);
  }
};

#endif
