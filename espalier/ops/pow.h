#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_POW_H_
#define ESPALIER_OPS_POW_H_

#include <cmath>
#include <limits>

#include "espalier/ops/map.h"
#include "espalier/ops/number_text.h"

namespace espalier {
namespace ops {

struct PowAttrs {
  double exponent = 1;
  bool operator==(const PowAttrs&) const = default;
};

struct Pow : UnaryMap<Pow, PowAttrs> {
  static constexpr std::string_view kName = "pow";
  static constexpr std::string_view kContract = "y = x^exponent";
  static constexpr Keep kKeep{.inputs = true};

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    if (!std::isfinite(attrs.exponent))
      in.refuse("the exponent must be finite, and it is " + number_text(attrs.exponent));
    return in["x"];
  }
  template <class T>
  static T value(const Attrs& attrs, const Fields&, const T& x) {
    using std::pow;
    return static_cast<T>(pow(x, attrs.exponent));
  }

  static Samples samples() {
    return {gives<Pow>({Tensor({4}, {0, 2, -3, 0.5F})}, Tensor({4}, {0, 8, -27, 0.125F}), {3}),
            gives<Pow>({Tensor({3}, {4, 0.25F, 1})}, Tensor({3}, {0.5F, 2, 1}), {-0.5}),
            gives<Pow>({Tensor({2}, {-2, 0})}, Tensor({2}, {1, 1}), {0}),
            works_on<Pow>({{7}}, {2}),
            works_on<Pow>({{}}, {1}),
            works_on<Pow>({{3, 5}}, {5}),
            works_on<Pow>({{9}}, {2.5}).between(0.1, 4),
            works_on<Pow>({{9}}, {-1.5}).between(0.3, 4),
            works_on<Pow>({{5}}, {-2}).between(-3, -0.3),
            works_on<Pow>({{5}}, {21}).between(-1.2, -0.5)};
  }
  static Refusals refusals() {
    return {refuses<Pow>({{3}}, "pow: the exponent must be finite, and it is inf",
                         {std::numeric_limits<double>::infinity()})};
  }
};

}  // namespace ops

/// Every element to a power. As in <cmath>: a negative number to a power that is not whole is NaN; 0^0 is 1.
inline Expr pow(Operand x, double exponent) { return ops::record<ops::Pow>({x}, {exponent}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_POW_H_
#else

template <>
struct VectorMap<Pow> {
  static HWY_INLINE FloatVector value(FloatTag d, const PowAttrs& attrs, const None&, FloatVector x) {
    return power(d, x, attrs.exponent);
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const PowAttrs& attrs, const None&, FloatVector x, FloatVector) {
    if (attrs.exponent == 0) return hn::Zero(d);
    return hn::Mul(hn::Set(d, static_cast<float>(attrs.exponent)), power(d, x, attrs.exponent - 1));
  }

 private:
  /// Small whole powers by products; others as e^(exponent log |x|), with the sign of x if they are odd.
  static HWY_INLINE FloatVector power(FloatTag d, FloatVector x, double exponent) {
    constexpr double kMostProducts = 16;
    const bool is_whole = exponent == std::nearbyint(exponent);
    if (is_whole && std::abs(exponent) <= kMostProducts) {
      FloatVector result = hn::Set(d, 1.0F);
      for (double k = 0; k < std::abs(exponent); ++k) result = hn::Mul(result, x);
      return exponent < 0 ? hn::Div(hn::Set(d, 1.0F), result) : result;
    }
    const auto size = kn::Exp(d, hn::Mul(hn::Set(d, static_cast<float>(exponent)), kn::Log(d, hn::Abs(x))));
    if (!is_whole) return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), size);
    return std::fmod(exponent, 2) == 0 ? size : hn::CopySign(size, x);
  }
};

#endif
