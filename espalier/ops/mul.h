#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_MUL_H_
#define ESPALIER_OPS_MUL_H_

#include "espalier/ops/map.h"
#include "espalier/ops/scalar_operands.h"

namespace espalier {
namespace ops {

struct Mul : BinaryMap<Mul> {
  static constexpr std::string_view kName = "mul";
  static constexpr std::string_view kContract = "y = a * b, elementwise";
  static constexpr Keep kKeep{.inputs = true};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& a, const T& b) {
    return a * b;
  }

  static Samples samples() {
    return {gives<Mul>({Tensor({2}, {2, -3}), Tensor({2}, {5, 0.5F})}, Tensor({2}, {10, -1.5F})),
            works_on<Mul>({{5}, {5}}), works_on<Mul>({{2, 9}, {2, 9}})};
  }
};

}  // namespace ops

/// The elementwise product; an operand of rank 0 is broadcast.
inline Expr mul(Operand a, Operand b) { return ops::record_broadcasting<ops::Mul>(a, b); }
inline Expr operator*(Operand a, Operand b) { return mul(a, b); }

}  // namespace espalier

#endif  // ESPALIER_OPS_MUL_H_
#else

template <>
struct VectorMap<Mul> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector a, FloatVector b) {
    return hn::Mul(a, b);
  }
  static HWY_INLINE void slopes(FloatTag, const None&, const None&, FloatVector a, FloatVector b, FloatVector,
                                FloatVector& by_a, FloatVector& by_b) {
    by_a = b;
    by_b = a;
  }
};

#endif
