/// Products with a matrix of few columns, a head of a few classes: one row of it would leave most of a vector empty.
/// Here a vector holds one column of as many rows of x as it has lanes.
///
/// A number has four chains, as in a block of one vector (small_block-inl.h): its bits are the same.
///
/// Internal: include after hwy/foreach_target.h and hwy/highway.h, from a file compiled once a target.

#if defined(ESPALIER_KERNELS_SMALL_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)  // NOLINT: Highway's guard
#ifdef ESPALIER_KERNELS_SMALL_NARROW_INL_H_
#undef ESPALIER_KERNELS_SMALL_NARROW_INL_H_
#else
#define ESPALIER_KERNELS_SMALL_NARROW_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "espalier/kernels/small_block-inl.h"
#include "espalier/tensor/rows.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

// With fewer registers, or shorter vectors, nothing is gained.
#if HWY_TARGET <= HWY_AVX3

/// The most columns: four chains of each take 24 of 32 registers.
constexpr std::int64_t kNarrowColumns = 6;
/// As many as a vector has lanes.
constexpr std::int64_t kNarrowRows = 16;
constexpr std::int64_t kTurned = 4;  // terms at a time, one for each chain

/// Four terms of 16 rows, turned over: vector c holds those that row(i) points to + c.
template <class Row>
HWY_INLINE void TurnTerms(const Row& row, FloatVector (&terms)[kTurned]) {
  const FloatTag d;
  const hn::Repartition<double, FloatTag> pairs;
  // Block b of vector i is of row 4 b + i.
  FloatVector blocks[kTurned];
  HWY_UNROLL(4)
  for (std::int64_t i = 0; i < kTurned; ++i) {
    blocks[i] = hn::LoadDup128(d, row(i));
    HWY_UNROLL(4)
    for (std::int64_t b = 1; b < 4; ++b) {
      const auto is_later = hn::Not(hn::FirstN(d, static_cast<std::size_t>(4 * b)));
      blocks[i] = hn::IfThenElse(is_later, hn::LoadDup128(d, row(4 * b + i)), blocks[i]);
    }
  }
  const auto lower_ab = hn::BitCast(pairs, hn::InterleaveLower(d, blocks[0], blocks[1]));
  const auto upper_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, blocks[0], blocks[1]));
  const auto lower_cd = hn::BitCast(pairs, hn::InterleaveLower(d, blocks[2], blocks[3]));
  const auto upper_cd = hn::BitCast(pairs, hn::InterleaveUpper(d, blocks[2], blocks[3]));
  terms[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower_ab, lower_cd));
  terms[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower_ab, lower_cd));
  terms[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper_ab, upper_cd));
  terms[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper_ab, upper_cd));
}

/// y = x W + bias for rows `first` to `first + count - 1`, 16 at the most.
template <std::int64_t kColumns>
HWY_INLINE void NarrowRows(const ConstRows& x, std::int64_t first, std::int64_t count, const float* w,
                           std::int64_t next, const float* bias, const Rows& y, bool accumulate, bool relu) {
  const FloatTag d;
  // Beyond the last row it is taken again, and what it gives is left.
  const float* from[kNarrowRows];
  for (std::int64_t i = 0; i < kNarrowRows; ++i) from[i] = x[first + std::min(i, count - 1)];
  FloatVector chains[kTurned][kColumns];
  HWY_UNROLL(4)
  for (auto& chain : chains) {
    HWY_UNROLL(8)
    for (auto& sum : chain) sum = hn::Zero(d);
  }
  const auto add = [&](std::int64_t p, std::int64_t c, const FloatVector& term) HWY_ATTR {
    HWY_UNROLL(8)
    for (std::int64_t j = 0; j < kColumns; ++j)
      chains[c][j] = hn::MulAdd(term, hn::Set(d, w[(p + c) * next + j]), chains[c][j]);
  };
  std::int64_t p = 0;
  FloatVector terms[kTurned];
  for (; p + kTurned <= x.width; p += kTurned) {
    TurnTerms([&](std::int64_t i) { return from[i] + p; }, terms);
    HWY_UNROLL(4)
    for (std::int64_t c = 0; c < kTurned; ++c) add(p, c, terms[c]);
  }
  if (p < x.width) {
    float rest[kNarrowRows][kTurned] = {};
    for (std::int64_t i = 0; i < kNarrowRows; ++i) std::copy(from[i] + p, from[i] + x.width, rest[i]);
    TurnTerms([&](std::int64_t i) { return rest[i]; }, terms);
    HWY_UNROLL(4)
    for (std::int64_t c = 0; c < kTurned - 1; ++c)
      if (p + c < x.width) add(p, c, terms[c]);
  }
  HWY_ALIGN float sums[kColumns][kNarrowRows];
  HWY_UNROLL(8)
  for (std::int64_t j = 0; j < kColumns; ++j) {
    auto sum = hn::Add(hn::Add(chains[0][j], chains[1][j]), hn::Add(chains[2][j], chains[3][j]));
    if (bias != nullptr) sum = hn::Add(sum, hn::Set(d, bias[j]));
    if (relu && !accumulate) sum = ReluOf(sum);
    hn::Store(sum, d, sums[j]);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    float* const to = y[first + i];
    HWY_UNROLL(8)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      float sum = sums[j][i];
      if (accumulate) sum = sum + to[j];
      to[j] = relu && accumulate && sum <= 0 ? 0 : sum;
    }
  }
}

#endif

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ESPALIER_KERNELS_SMALL_NARROW_INL_H_
