#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_ADD_H_
#define ESPALIER_OPS_ADD_H_

#include "espalier/ops/map.h"
#include "espalier/ops/scalar_operands.h"

namespace espalier {
namespace ops {

struct Add : BinaryMap<Add> {
  static constexpr std::string_view kName = "add";
  static constexpr std::string_view kContract = "y = a + b, elementwise";
  static constexpr Keep kKeep{};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& a, const T& b) {
    return a + b;
  }

  static Samples samples() {
    return {gives<Add>({Tensor({2}, {2, -3}), Tensor({2}, {5, 0.5F})}, Tensor({2}, {7, -2.5F})),
            works_on<Add>({{5}, {5}}), works_on<Add>({{}, {}}), works_on<Add>({{2, 9}, {2, 9}})};
  }
};

}  // namespace ops

/// The elementwise sum; an operand of rank 0 is broadcast.
inline Expr add(Operand a, Operand b) { return ops::record_broadcasting<ops::Add>(a, b); }
inline Expr operator+(Operand a, Operand b) { return add(a, b); }

}  // namespace espalier

#endif  // ESPALIER_OPS_ADD_H_
#else

template <>
struct VectorMap<Add> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector a, FloatVector b) {
    return hn::Add(a, b);
  }
  static HWY_INLINE void slopes(FloatTag d, const None&, const None&, FloatVector, FloatVector, FloatVector,
                                FloatVector& by_a, FloatVector& by_b) {
    by_a = hn::Set(d, 1.0F);
    by_b = hn::Set(d, 1.0F);
  }
};

#endif
