/// Products with a transposed matrix that is stored as it is: dots of rows, four at a time.
///
/// Internal: include after hwy/foreach_target.h and hwy/highway.h, from a file compiled once a target.

#if defined(ESPALIER_KERNELS_SMALL_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)  // NOLINT: Highway's once-a-target guard
#ifdef ESPALIER_KERNELS_SMALL_DOTS_INL_H_
#undef ESPALIER_KERNELS_SMALL_DOTS_INL_H_
#else
#define ESPALIER_KERNELS_SMALL_DOTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/tensor/rows.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

// The one target without blocks of four lanes has one lane.
#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void FourSums(FloatVector a, FloatVector b, FloatVector c, FloatVector e, float* sums) {
  sums[0] = hn::GetLane(a);
  sums[1] = hn::GetLane(b);
  sums[2] = hn::GetLane(c);
  sums[3] = hn::GetLane(e);
}

#else

/// The sum of all blocks of four lanes.
template <class D>
HWY_INLINE hn::Vec<hn::Full128<float> > SumOfBlocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// The sums of the lanes of four vectors: their blocks of four lanes are transposed and added at the same time.
HWY_INLINE void FourSums(FloatVector a, FloatVector b, FloatVector c, FloatVector e, float* sums) {
  const FloatTag d;
  const hn::Repartition<double, FloatTag> pairs;
  const auto ab = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  const auto ce = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
  const auto lower = hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce));
  const auto upper = hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce));
  hn::StoreU(SumOfBlocks(d, hn::Add(lower, upper)), hn::Full128<float>(), sums);
}

#endif

/// The dots of kRows rows of y, `width` long, with four rows of W.
template <std::int64_t kRows>
class Dots {
 public:
  HWY_INLINE Dots(const float* const (&y)[kRows], const float* const (&w)[4], std::int64_t width) {
    const FloatTag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    FloatVector sums[kRows][4];
    HWY_UNROLL(4)
    for (auto& row : sums) {
      HWY_UNROLL(4)
      for (auto& sum : row) sum = hn::Zero(d);
    }
    const auto add = [&](const auto& load) HWY_ATTR {
      FloatVector weights[4];
      HWY_UNROLL(4)
      for (std::int64_t i = 0; i < 4; ++i) weights[i] = load(w[i]);
      HWY_UNROLL(4)
      for (std::int64_t r = 0; r < kRows; ++r) {
        const auto factor = load(y[r]);
        HWY_UNROLL(4)
        for (std::int64_t i = 0; i < 4; ++i) sums[r][i] = hn::MulAdd(factor, weights[i], sums[r][i]);
      }
    };
    std::int64_t j = 0;
    for (; j + lanes <= width; j += lanes) add([d, j](const float* p) HWY_ATTR { return hn::LoadU(d, p + j); });
    if (j < width) {
      const auto rest = static_cast<std::size_t>(width - j);
      add([d, j, rest](const float* p) HWY_ATTR { return LoadPart(d, p + j, rest); });
    }
    HWY_UNROLL(4)
    for (std::int64_t r = 0; r < kRows; ++r) FourSums(sums[r][0], sums[r][1], sums[r][2], sums[r][3], dots_[r]);
  }

  /// The four of row r of y.
  HWY_INLINE const float* row(std::int64_t r) const { return dots_[r]; }

 private:
  float dots_[kRows][4];
};

/// Rows of y at a time: their sums take 16 of 32 registers, or 8 of 16.
constexpr std::int64_t kDotRows = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

/// Inlined, so that four of them are one vector.
HWY_INLINE void PutDots(const float* HWY_RESTRICT dots, std::int64_t count, bool accumulate, float* HWY_RESTRICT to) {
  if (accumulate)
    for (std::int64_t i = 0; i < count; ++i) to[i] += dots[i];
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = dots[i];
}

template <std::int64_t kRows>
HWY_INLINE void DotRows(const ConstRows& y, std::int64_t first, const float* w, std::int64_t next, const Rows& x,
                        bool accumulate) {
  const float* from[kRows];
  for (std::int64_t r = 0; r < kRows; ++r) from[r] = y[first + r];
  for (std::int64_t i = 0; i < x.width; i += 4) {
    // Beyond the last row of W it is taken again, and its dots are left.
    const std::int64_t count = std::min<std::int64_t>(4, x.width - i);
    const float* const rows[4] = {w + i * next, w + (i + std::min<std::int64_t>(1, count - 1)) * next,
                                  w + (i + std::min<std::int64_t>(2, count - 1)) * next, w + (i + count - 1) * next};
    const Dots<kRows> dots(from, rows, y.width);
    for (std::int64_t r = 0; r < kRows; ++r) {
      if (count == 4)
        PutDots(dots.row(r), 4, accumulate, x[first + r] + i);
      else
        PutDots(dots.row(r), count, accumulate, x[first + r] + i);
    }
  }
}

void RowsByTransposed(const ConstRows& y, const float* w, std::int64_t next, const Rows& x, bool accumulate) {
  std::int64_t first = 0;
  for (; first + kDotRows <= y.count; first += kDotRows) DotRows<kDotRows>(y, first, w, next, x, accumulate);
  for (; first + 2 <= y.count; first += 2) DotRows<2>(y, first, w, next, x, accumulate);
  if (first < y.count) DotRows<1>(y, first, w, next, x, accumulate);
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ESPALIER_KERNELS_SMALL_DOTS_INL_H_
