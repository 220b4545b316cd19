#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SUB_H_
#define ESPALIER_OPS_SUB_H_

#include "espalier/ops/map.h"
#include "espalier/ops/scalar_operands.h"

namespace espalier {
namespace ops {

struct Sub : BinaryMap<Sub> {
  static constexpr std::string_view kName = "sub";
  static constexpr std::string_view kContract = "y = a - b, elementwise";
  static constexpr Keep kKeep{};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& a, const T& b) {
    return a - b;
  }

  static Samples samples() {
    return {gives<Sub>({Tensor({2}, {2, -3}), Tensor({2}, {5, 0.5F})}, Tensor({2}, {-3, -3.5F})),
            works_on<Sub>({{5}, {5}}), works_on<Sub>({{}, {}}), works_on<Sub>({{2, 9}, {2, 9}})};
  }
};

}  // namespace ops

/// The difference of every two elements; an operand of rank 0 is broadcast.
inline Expr sub(Operand a, Operand b) { return ops::record_broadcasting<ops::Sub>(a, b); }
inline Expr operator-(Operand a, Operand b) { return sub(a, b); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SUB_H_
#else

template <>
struct VectorMap<Sub> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector a, FloatVector b) {
    return hn::Sub(a, b);
  }
  static HWY_INLINE void slopes(FloatTag d, const None&, const None&, FloatVector, FloatVector, FloatVector,
                                FloatVector& by_a, FloatVector& by_b) {
    by_a = hn::Set(d, 1.0F);
    by_b = hn::Set(d, -1.0F);
  }
};

#endif
