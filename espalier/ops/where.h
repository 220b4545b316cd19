#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_WHERE_H_
#define ESPALIER_OPS_WHERE_H_

#include "espalier/ops/map.h"

namespace espalier {
namespace ops {

struct Where : TernaryMap<Where> {
  static constexpr std::string_view kName = "where";
  static constexpr std::string_view kContract = "y = a where condition > 0, else b; elementwise";
  static constexpr std::array kInputs{Input{"condition", Role::kEither}, Input{"a", Role::kEither},
                                      Input{"b", Role::kEither}};
  static constexpr Keep kKeep{.only = {"condition"}};

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_same_shape("condition", "a");
    in.require_same_shape("condition", "b");
    return in["a"];
  }
  template <class T>
  static T value(const Attrs&, const Fields&, const T& condition, const T& a, const T& b) {
    return condition > T(0) ? a : b;
  }

  static Samples samples() {
    return {gives<Where>({Tensor({4}, {1, 0, -1, 0.5F}), Tensor({4}, {1, 2, 3, 4}), Tensor({4}, {5, 6, 7, 8})},
                         Tensor({4}, {1, 6, 7, 4})),
            works_on<Where>({{5}, {5}, {5}}), works_on<Where>({{}, {}, {}}), works_on<Where>({{2, 9}, {2, 9}, {2, 9}})};
  }
  static Refusals refusals() {
    return {
        refuses<Where>({{3}, {4}, {3}}, "where: shape of condition ([3]) and shape of a ([4]) differ"),
        refuses<Where>({{2, 3}, {2, 3}, {3, 2}}, "where: shape of condition ([2, 3]) and shape of b ([3, 2]) differ")};
  }
};

}  // namespace ops

/// The elements of a where condition is above 0, and those of b elsewhere. A mask of ones and zeros is a condition, and
/// so is x - y: a where x > y. The condition gets no gradient.
inline Expr where(Operand condition, Operand a, Operand b) { return ops::record<ops::Where>({condition, a, b}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_WHERE_H_
#else

template <>
struct VectorMap<Where> {
  static HWY_INLINE FloatVector value(FloatTag d, const None&, const None&, FloatVector condition, FloatVector a,
                                      FloatVector b) {
    return hn::IfThenElse(hn::Gt(condition, hn::Zero(d)), a, b);
  }
  static HWY_INLINE void slopes(FloatTag d, const None&, const None&, FloatVector condition, FloatVector, FloatVector,
                                FloatVector, FloatVector& by_condition, FloatVector& by_a, FloatVector& by_b) {
    const auto is_a = hn::Gt(condition, hn::Zero(d));
    by_condition = hn::Zero(d);
    by_a = hn::IfThenElseZero(is_a, hn::Set(d, 1.0F));
    by_b = hn::IfThenZeroElse(is_a, hn::Set(d, 1.0F));
  }
};

#endif
