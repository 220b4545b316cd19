#include "espalier/kernels/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/transpose.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void FourByFour(const float* from, std::int64_t next_from, float* to, std::int64_t next_to) {
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) to[j * next_to + i] = from[i * next_from + j];
}

#else

HWY_INLINE void FourByFour(const float* from, std::int64_t next_from, float* to, std::int64_t next_to) {
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + next_from);
  const auto row2 = hn::LoadU(d, from + 2 * next_from);
  const auto row3 = hn::LoadU(d, from + 3 * next_from);
  // Of rows 0 and 1, and of rows 2 and 3: pairs of columns 0 and 1, then of columns 2 and 3.
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + next_to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * next_to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * next_to);
}

#endif

/// Sixteen rows at a time: their columns are lines of the cache in `to`.
void Transpose(std::int64_t rows, std::int64_t columns, const float* HWY_RESTRICT from, std::int64_t next_from,
               float* HWY_RESTRICT to, std::int64_t next_to) {
  constexpr std::int64_t kStrip = 16;
  const std::int64_t whole_rows = rows - rows % 4;
  const std::int64_t whole_columns = columns - columns % 4;
  for (std::int64_t begin = 0; begin < whole_rows; begin += kStrip) {
    const std::int64_t end = begin + kStrip < whole_rows ? begin + kStrip : whole_rows;
    for (std::int64_t j = 0; j < whole_columns; j += 4)
      for (std::int64_t i = begin; i < end; i += 4)
        FourByFour(from + i * next_from + j, next_from, to + j * next_to + i, next_to);
  }
  // What is left below and on the right.
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * next_to + i] = from[i * next_from + j];
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(Transpose);

void transpose(std::int64_t rows, std::int64_t columns, const float* from, std::int64_t next_from, float* to,
               std::int64_t next_to) {
  HWY_DYNAMIC_DISPATCH(Transpose)(rows, columns, from, next_from, to, next_to);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
