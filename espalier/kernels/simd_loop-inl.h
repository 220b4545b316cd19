/// Loops over float32 spans for Highway code: full vectors first, then the rest, so that nothing outside the spans is
/// read or written.
///
/// Internal: include after hwy/foreach_target.h and hwy/highway.h, from a file compiled once a target.

#if defined(ESPALIER_KERNELS_SIMD_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)  // NOLINT: Highway's once-a-target guard
#ifdef ESPALIER_KERNELS_SIMD_LOOP_INL_H_
#undef ESPALIER_KERNELS_SIMD_LOOP_INL_H_
#else
#define ESPALIER_KERNELS_SIMD_LOOP_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

// From AVX2 on, masked loads and stores do not touch memory outside the mask; before, Highway's may.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

/// The first `count` floats at p; `fill` in the lanes after them.
HWY_INLINE FloatVector LoadPart(FloatTag d, const float* p, std::size_t count, float fill = 0.0F) {
  const auto mask = hn::FirstN(d, count);
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, p), hn::Set(d, fill));
}

/// The first `count` lanes of v.
HWY_INLINE void StorePart(FloatVector v, FloatTag d, float* p, std::size_t count) {
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
}

#else

HWY_INLINE FloatVector LoadPart(FloatTag d, const float* p, std::size_t count, float fill = 0.0F) {
  HWY_ALIGN float buffer[hn::MaxLanes(FloatTag())];
  hn::Store(hn::Set(d, fill), d, buffer);
  for (std::size_t i = 0; i < count; ++i) buffer[i] = p[i];
  return hn::Load(d, buffer);
}

HWY_INLINE void StorePart(FloatVector v, FloatTag d, float* p, std::size_t count) {
  HWY_ALIGN float buffer[hn::MaxLanes(FloatTag())];
  hn::Store(v, d, buffer);
  for (std::size_t i = 0; i < count; ++i) p[i] = buffer[i];
}

#endif

/// Calls f(load, store) for every vector of n elements; both leave alone what is behind the end.
template <class F>
HWY_INLINE void ForEachVector(std::int64_t n, const F& f) {
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    f([&](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); },
      [&](FloatVector v, float* p) HWY_ATTR { hn::StoreU(v, d, p + i); });
  if (i == n) return;
  const auto rest = static_cast<std::size_t>(n - i);
  f([&](const float* p) HWY_ATTR { return LoadPart(d, p + i, rest); },
    [&](FloatVector v, float* p) HWY_ATTR { StorePart(v, d, p + i, rest); });
}

/// y[i] = f(d, x[i]); x may be y.
template <class F>
HWY_INLINE void Map(const float* x, float* y, std::size_t n, const F& f) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
  if (i < n) StorePart(f(d, LoadPart(d, x + i, n - i)), d, y + i, n - i);
}

/// y[i] = f(d, x[i], y[i]); x may be y.
template <class F>
HWY_INLINE void Update(const float* x, float* y, std::size_t n, const F& f) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  if (i < n) StorePart(f(d, LoadPart(d, x + i, n - i), LoadPart(d, y + i, n - i)), d, y + i, n - i);
}

/// Folds f(sum, load) over n elements, a vector at a time, where load(p) gives the vector of array p that is next;
/// after the end it gives zeros, for which f must leave the sum as it is. Four partial sums hide the latency of the
/// additions.
template <class F>
HWY_INLINE float SumOver(std::size_t n, const F& f) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  const auto at = [&](std::size_t i)
                      HWY_ATTR { return [i, d](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); }; };
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    sum0 = f(sum0, at(i));
    sum1 = f(sum1, at(i + lanes));
    sum2 = f(sum2, at(i + 2 * lanes));
    sum3 = f(sum3, at(i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) sum0 = f(sum0, at(i));
  if (i < n) sum1 = f(sum1, [i, n, d](const float* p) HWY_ATTR { return LoadPart(d, p + i, n - i); });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ESPALIER_KERNELS_SIMD_LOOP_INL_H_
