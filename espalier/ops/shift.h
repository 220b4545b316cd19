#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_SHIFT_H_
#define ESPALIER_OPS_SHIFT_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct ShiftFields {
  double constant = 0;
};

/// The constant is a field: nodes with different constants run together.
struct Shift : UnaryMap<Shift, None, ShiftFields> {
  static constexpr std::string_view kName = "shift";
  static constexpr std::string_view kContract = "y = x + constant";
  static constexpr Keep kKeep{};

  template <class T>
  static T value(const Attrs&, const Fields& fields, const T& x) {
    return x + static_cast<T>(fields.constant);
  }

  static Samples samples() {
    return {gives<Shift>({Tensor({2}, {2, -3})}, Tensor({2}, {4.5F, -0.5F}), {}, {2.5}),
            works_on<Shift>({{5}}, {}, {-0.5}), works_on<Shift>({{}}, {}, {3}), works_on<Shift>({{3, 6}}, {}, {0.125})};
  }
};

}  // namespace ops

/// Every element plus a constant.
inline Expr shift(Operand x, double constant) { return ops::record<ops::Shift>({x}, {}, {constant}); }
inline Expr operator+(Operand x, double constant) { return shift(x, constant); }
inline Expr operator+(double constant, Operand x) { return shift(x, constant); }
inline Expr operator-(Operand x, double constant) { return shift(x, -constant); }

}  // namespace espalier

#endif  // ESPALIER_OPS_SHIFT_H_
#else

template <>
struct VectorMap<Shift> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const ShiftFields& fields, FloatVector x) {
    return hn::Add(x, hn::Set(d, static_cast<float>(fields.constant)));
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const None&, const ShiftFields&, FloatVector, FloatVector) {
    return hn::Set(d, 1.0F);
  }
};

#endif
