#ifndef ESPALIER_MAPS_SIMD
#ifndef ESPALIER_OPS_CLAMP_H_
#define ESPALIER_OPS_CLAMP_H_

#include <limits>

#include "espalier/ops/map.h"
#include "espalier/ops/number_text.h"

namespace espalier {
namespace ops {

struct ClampAttrs {
  double low = 0;
  double high = 1;
  bool operator==(const ClampAttrs&) const = default;
};

struct Clamp : UnaryMap<Clamp, ClampAttrs> {
  static constexpr std::string_view kName = "clamp";
  static constexpr std::string_view kContract = "y = low if x < low, high if x > high, else x";
  static constexpr Keep kKeep{.inputs = true};

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    if (!(attrs.low <= attrs.high))
      in.refuse("low (" + number_text(attrs.low) + ") must not be above high (" + number_text(attrs.high) + ")");
    return in["x"];
  }
  template <class T>
  static T value(const Attrs& attrs, const Fields&, const T& x) {
    const T low = static_cast<T>(attrs.low);
    const T high = static_cast<T>(attrs.high);
    return x < low ? low : x > high ? high : x;  // asked this way, NaN passes
  }

  static Samples samples() {
    return {gives<Clamp>({Tensor({5}, {0, -3, 0.5F, 0.25F, 7})}, Tensor({5}, {0, -1, 0.5F, 0.25F, 0.5F}), {-1, 0.5}),
            works_on<Clamp>({{7}}, {-1, 1}),
            works_on<Clamp>({{}}, {-1, 1}),
            works_on<Clamp>({{3, 5}}),
            works_on<Clamp>({{6}}, {-0.5, std::numeric_limits<double>::infinity()}),
            works_on<Clamp>({{2}}, {1, 1})};
  }
  static Refusals refusals() {
    return {refuses<Clamp>({{3}}, "clamp: low (2) must not be above high (0.5)", {2, 0.5}),
            refuses<Clamp>({{3}}, "clamp: low (nan) must not be above high (1)",
                           {std::numeric_limits<double>::quiet_NaN(), 1})};
  }
};

}  // namespace ops

/// Every element, limited to low..high. The gradient is 1 at the bounds and between them, 0 outside.
inline Expr clamp(Operand x, double low, double high) { return ops::record<ops::Clamp>({x}, {low, high}); }

}  // namespace espalier

#endif  // ESPALIER_OPS_CLAMP_H_
#else

template <>
struct VectorMap<Clamp> {
  static HWY_INLINE FloatVector value(FloatTag d, const ClampAttrs& attrs, const None&, FloatVector x) {
    const auto low = hn::Set(d, static_cast<float>(attrs.low));
    const auto high = hn::Set(d, static_cast<float>(attrs.high));
    return hn::IfThenElse(hn::Lt(x, low), low, hn::IfThenElse(hn::Gt(x, high), high, x));
  }
  static HWY_INLINE FloatVector slope(FloatTag d, const ClampAttrs& attrs, const None&, FloatVector x, FloatVector) {
    const auto below = hn::Lt(x, hn::Set(d, static_cast<float>(attrs.low)));
    const auto above = hn::Gt(x, hn::Set(d, static_cast<float>(attrs.high)));
    return hn::IfThenZeroElse(hn::Or(below, above), hn::Set(d, 1.0F));
  }
};

#endif
