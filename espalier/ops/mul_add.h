#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_MUL_ADD_H_
#define ESPALIER_OPS_MUL_ADD_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

/// Rounds twice, as mul and add do: fused or not, the bits are the same.
struct MulAdd : TernaryMap<MulAdd> {
  static constexpr std::string_view kName = "mul_add";
  static constexpr std::string_view kContract = "y = a * b + c, elementwise";
  static constexpr Keep kKeep{.only = {"a", "b"}};

  template <class T>
  static T value(const Attrs&, const Fields&, const T& a, const T& b, const T& c) {
    return a * b + c;
  }

  static Samples samples() {
    return {gives<MulAdd>({Tensor({2}, {2, -3}), Tensor({2}, {5, 0.5F}), Tensor({2}, {1, 4})}, Tensor({2}, {11, 2.5F})),
            works_on<MulAdd>({{5}, {5}, {5}}), works_on<MulAdd>({{2, 9}, {2, 9}, {2, 9}})};
  }
};

}  // namespace ops

/// a * b + c, elementwise.
inline Expr mul_add(Operand a, Operand b, Operand c) { return ops::record<ops::MulAdd>({a, b, c}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_MUL_ADD_H_
#else

template <>
struct VectorMap<MulAdd> {
  static HWY_INLINE FloatVector value(FloatTag, const None&, const None&, FloatVector a, FloatVector b, FloatVector c) {
    return hn::Add(hn::Mul(a, b), c);
  }
  static HWY_INLINE void slopes(FloatTag d, const None&, const None&, FloatVector a, FloatVector b, FloatVector,
                                FloatVector, FloatVector& by_a, FloatVector& by_b, FloatVector& by_c) {
    by_a = b;
    by_b = a;
    by_c = hn::Set(d, 1.0F);
  }
};

#endif
