/// Vector functions of float32 for Highway code: Exp, Expm1, Log, Log1p, Tanh, Sigmoid, Erf, Softplus.
///
/// NaN, infinities and zeros, with their signs, behave as in <cmath>: overflow gives inf, log(0) is -inf, log of a
/// negative number is NaN. Denormal arguments and results are right, too, unless the calling thread flushes denormals.
///
/// Largest error in units in the last place, against the exact result, over all floats, with and without FMA (a test
/// walks through their bit patterns on every target the processor has):
///
///   Exp 1.5   Expm1 2.0   Log 1.0   Log1p 1.0   Tanh 3.0   Sigmoid 3.0   Erf 1.5   Softplus 2.0
///
/// The polynomials are minimax fits (Remez), weighted for relative error of the function, coefficients rounded to
/// float. Internal: include after hwy/foreach_target.h and hwy/highway.h, from a file compiled once a target.

#if defined(ESPALIER_KERNELS_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)  // NOLINT: Highway's once-a-target guard
#ifdef ESPALIER_KERNELS_SIMD_MATH_INL_H_
#undef ESPALIER_KERNELS_SIMD_MATH_INL_H_
#else
#define ESPALIER_KERNELS_SIMD_MATH_INL_H_
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace math_detail {

// log(2) in two floats; the first has 10 bits, so that its products with exponents are exact.
constexpr float kLn2Hi = 0.693359375F;
constexpr float kLn2Lo = -2.12194440e-4F;

/// x = n log(2) + r with |r| at most log(2) / 2. Takes |x| below 2^20.
template <class D>
struct Reduced {
  hn::Vec<hn::RebindToSigned<D>> n;
  hn::Vec<D> r;
};

template <class D, class V>
HWY_INLINE Reduced<D> ReduceByLn2(D d, V x) {
  const hn::RebindToSigned<D> di;
  // Adding 1.5 * 2^23 leaves the nearest whole number in the low bits of the sum.
  constexpr float kRounder = 12582912.0F;
  const auto rounder = hn::Set(d, kRounder);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), rounder);
  const auto whole = hn::Sub(shifted, rounder);
  const auto r = hn::NegMulAdd(whole, hn::Set(d, kLn2Lo), hn::NegMulAdd(whole, hn::Set(d, kLn2Hi), x));
  return {hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, rounder)), r};
}

/// e^r - 1 for |r| at most log(2) / 2: r + r^2 q(r).
template <class D, class V>
HWY_INLINE V Expm1Reduced(D d, V r) {
  auto q = hn::MulAdd(hn::Set(d, 0.00139465451F), r, hn::Set(d, 0.00836663134F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.0416662805F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.16666542F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.5F));
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

/// 2^n for n from -126 to 127.
template <class D, class VI>
HWY_INLINE hn::Vec<D> PowerOfTwo(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

/// e^x for x from -104 (where it has become 0) to 89 (inf). Two factors, because 2^n alone would leave the range of
/// normal floats before the product does.
template <class D, class V>
HWY_INLINE V ExpInRange(D d, V x) {
  const auto reduced = ReduceByLn2(d, x);
  const auto mantissa = hn::Add(hn::Set(d, 1.0F), Expm1Reduced(d, reduced.r));
  const auto half = hn::ShiftRight<1>(reduced.n);
  return hn::Mul(hn::Mul(mantissa, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(reduced.n, half)));
}

/// e^-|x|: between 0 and 1.
template <class D, class V>
HWY_INLINE V ExpOfMinusAbs(D d, V x) {
  return ExpInRange(d, hn::Max(hn::Neg(hn::Abs(x)), hn::Set(d, -104.0F)));
}

/// x = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2), for normal x > 0.
template <class D>
struct Decomposed {
  hn::Vec<hn::RebindToSigned<D>> k;
  hn::Vec<D> f;
};

template <class D, class V>
HWY_INLINE Decomposed<D> Decompose(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  const auto k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));  // the bits of sqrt(1/2)
  const auto mantissa = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(k)));
  return {k, hn::Sub(mantissa, hn::Set(d, 1.0F))};
}

/// k log(2) + log(1 + f) + low, with log(1 + f) = f - f^2 / 2 + f^3 P(f).
template <class D, class V>
HWY_INLINE V LogOfDecomposed(D d, V k, V f, V low) {
  auto p = hn::MulAdd(hn::Set(d, -0.0786544755F), f, hn::Set(d, 0.128791705F));
  p = hn::MulAdd(p, f, hn::Set(d, -0.13125281F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.141814232F));
  p = hn::MulAdd(p, f, hn::Set(d, -0.166249722F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.200022832F));
  p = hn::MulAdd(p, f, hn::Set(d, -0.250007957F));
  p = hn::MulAdd(p, f, hn::Set(d, 0.333333164F));
  const auto square = hn::Mul(f, f);
  auto y = hn::MulAdd(k, hn::Set(d, kLn2Lo), low);
  y = hn::MulAdd(hn::Mul(square, f), p, y);
  y = hn::NegMulAdd(square, hn::Set(d, 0.5F), y);
  return hn::MulAdd(k, hn::Set(d, kLn2Hi), hn::Add(f, y));
}

/// log(1 + x) for finite x > -1.
template <class D, class V>
HWY_INLINE V Log1pInRange(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto one = hn::Set(d, 1.0F);
  const auto u = hn::Add(one, x);
  const auto parts = Decompose(d, u);
  // What the rounding of 1 + x lost, relative to u; the larger operand is subtracted first, so that it is exact.
  const auto lost = hn::IfThenElse(hn::Gt(x, one), hn::Sub(one, hn::Sub(u, x)), hn::Sub(x, hn::Sub(u, one)));
  // Near 0, x itself is f, and nothing was lost.
  const auto near_zero = hn::RebindMask(d, hn::Eq(parts.k, hn::Zero(di)));
  const auto f = hn::IfThenElse(near_zero, x, parts.f);
  const auto low = hn::IfThenZeroElse(near_zero, hn::Div(lost, u));
  return LogOfDecomposed(d, hn::ConvertTo(d, parts.k), f, low);
}

/// `result`, or x itself where x is NaN.
template <class V>
HWY_INLINE V PassNaN(V x, V result) {
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

template <class D>
HWY_INLINE hn::Vec<D> Infinity(D d) {
  return hn::Set(d, std::numeric_limits<float>::infinity());
}

/// -inf for zeros, NaN for negative x: what logarithms give at and beyond their pole.
template <class D, class V>
HWY_INLINE V AtPole(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(Infinity(d)),
                        hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace math_detail

/// e^x
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  const auto inside = hn::Max(hn::Min(x, hn::Set(d, 89.0F)), hn::Set(d, -104.0F));
  return math_detail::PassNaN(x, math_detail::ExpInRange(d, inside));
}

/// e^x - 1
template <class D, class V>
HWY_INLINE V Expm1(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto inside = hn::Max(hn::Min(x, hn::Set(d, 89.0F)), hn::Set(d, -18.0F));
  const auto reduced = math_detail::ReduceByLn2(d, inside);
  const auto p = math_detail::Expm1Reduced(d, reduced.r);
  // 2^n p + (2^n - 1) in halves, because 2^128 is no float.
  const auto half_power = math_detail::PowerOfTwo(d, hn::Sub(reduced.n, hn::Set(di, 1)));
  const auto half = hn::MulAdd(half_power, p, hn::Sub(half_power, hn::Set(d, 0.5F)));
  const auto result = hn::Add(half, half);
  // Tiny x are their own result: keeps the sign of zero and the last bit of denormals.
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-25F));
  return hn::IfThenElse(hn::Or(tiny, hn::IsNaN(x)), x, result);
}

/// The natural logarithm.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  const auto denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const auto normal = hn::IfThenElse(denormal, hn::Mul(x, hn::Set(d, 0x1p23F)), x);
  const auto parts = math_detail::Decompose(d, normal);
  const auto k = hn::Add(hn::ConvertTo(d, parts.k), hn::IfThenElseZero(denormal, hn::Set(d, -23.0F)));
  const auto result = math_detail::LogOfDecomposed(d, k, parts.f, hn::Zero(d));
  // +inf and NaN are not below inf.
  const auto above = hn::IfThenElse(hn::Lt(x, math_detail::Infinity(d)), result, x);
  return hn::IfThenElse(hn::Le(x, hn::Zero(d)), math_detail::AtPole(d, x), above);
}

/// log(1 + x)
template <class D, class V>
HWY_INLINE V Log1p(D d, V x) {
  const auto result = math_detail::Log1pInRange(d, x);
  const auto minus_one = hn::Set(d, -1.0F);
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-25F));
  const auto ordinary = hn::AndNot(tiny, hn::Lt(x, math_detail::Infinity(d)));
  const auto above = hn::IfThenElse(ordinary, result, x);
  return hn::IfThenElse(hn::Le(x, minus_one), math_detail::AtPole(d, hn::Sub(x, minus_one)), above);
}

/// The hyperbolic tangent: t / (t + 2) with t = e^2|x| - 1.
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  // From 9.02 on, the result rounds to 1.
  const auto a = hn::Min(hn::Abs(x), hn::Set(d, 9.1F));
  const auto reduced = math_detail::ReduceByLn2(d, hn::Add(a, a));
  const auto power = math_detail::PowerOfTwo(d, reduced.n);
  const auto p = math_detail::Expm1Reduced(d, reduced.r);
  const auto t = hn::MulAdd(power, p, hn::Sub(power, hn::Set(d, 1.0F)));
  return math_detail::PassNaN(x, hn::CopySign(hn::Div(t, hn::Add(t, hn::Set(d, 2.0F))), x));
}

/// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x, so that small results keep their precision.
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  const auto one = hn::Set(d, 1.0F);
  const auto e = math_detail::ExpOfMinusAbs(d, x);
  const auto numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return math_detail::PassNaN(x, hn::Div(numerator, hn::Add(one, e)));
}

/// The error function: x + x P(x^2) up to 0.92, then 1 - e^-(x + x G(x)), signed.
template <class D, class V>
HWY_INLINE V Erf(D d, V x) {
  // From 3.93 on, the result rounds to 1.
  const auto a = hn::Min(hn::Abs(x), hn::Set(d, 4.0F));
  const auto s = hn::Mul(a, a);
  auto p = hn::MulAdd(hn::Set(d, -0.000602180895F), s, hn::Set(d, 0.00499960221F));
  p = hn::MulAdd(p, s, hn::Set(d, -0.0267712846F));
  p = hn::MulAdd(p, s, hn::Set(d, 0.112819552F));
  p = hn::MulAdd(p, s, hn::Set(d, -0.376125067F));
  p = hn::MulAdd(p, s, hn::Set(d, 0.128379151F));
  const auto inner = hn::MulAdd(a, p, a);
  auto g = hn::MulAdd(hn::Set(d, 1.1520754e-05F), a, hn::Set(d, -0.000325639936F));
  g = hn::MulAdd(g, a, hn::Set(d, 0.00365372002F));
  g = hn::MulAdd(g, a, hn::Set(d, -0.0237852689F));
  g = hn::MulAdd(g, a, hn::Set(d, 0.106263071F));
  g = hn::MulAdd(g, a, hn::Set(d, 0.635135949F));
  g = hn::MulAdd(g, a, hn::Set(d, 0.128652155F));
  const auto reduced = math_detail::ReduceByLn2(d, hn::Neg(hn::MulAdd(a, g, a)));
  const auto e = hn::Mul(hn::Add(hn::Set(d, 1.0F), math_detail::Expm1Reduced(d, reduced.r)),
                         math_detail::PowerOfTwo(d, reduced.n));
  const auto outer = hn::Sub(hn::Set(d, 1.0F), e);
  const auto magnitude = hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.92F)), inner, outer);
  return math_detail::PassNaN(x, hn::CopySign(magnitude, x));
}

/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
template <class D, class V>
HWY_INLINE V Softplus(D d, V x) {
  const auto rest = math_detail::Log1pInRange(d, math_detail::ExpOfMinusAbs(d, x));
  return math_detail::PassNaN(x, hn::Add(hn::Max(x, hn::Zero(d)), rest));
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ESPALIER_KERNELS_SIMD_MATH_INL_H_
