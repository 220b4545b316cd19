#include "espalier/kernels/row_sum.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/row_sum.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

/// Rows that are added in one pass: each is read from its beginning to its end, and the sum is read and written once.
constexpr std::size_t kRowsAtOnce = 8;

template <std::size_t... kNumbers>
HWY_INLINE void AddBlock(const ConstRows& rows, std::int64_t begin, float* sum, std::index_sequence<kNumbers...>) {
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* const row[] = {rows[begin + static_cast<std::int64_t>(kNumbers)]...};
  std::int64_t j = 0;
  for (; j + lanes <= rows.width; j += lanes) {
    FloatVector total = hn::LoadU(d, sum + j);
    ((total = hn::Add(total, hn::LoadU(d, row[kNumbers] + j))), ...);
    hn::StoreU(total, d, sum + j);
  }
  if (j == rows.width) return;
  const auto rest = static_cast<std::size_t>(rows.width - j);
  FloatVector total = LoadPart(d, sum + j, rest);
  ((total = hn::Add(total, LoadPart(d, row[kNumbers] + j, rest))), ...);
  StorePart(total, d, sum + j, rest);
}

void AddRows(const ConstRows& rows, float* sum) {
  std::int64_t r = 0;
  for (; r + static_cast<std::int64_t>(kRowsAtOnce) <= rows.count; r += kRowsAtOnce)
    AddBlock(rows, r, sum, std::make_index_sequence<kRowsAtOnce>());
  for (; r < rows.count; ++r) AddBlock(rows, r, sum, std::make_index_sequence<1>());
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(AddRows);

void add_rows(const ConstRows& rows, float* sum) { HWY_DYNAMIC_DISPATCH(AddRows)(rows, sum); }

}  // namespace espalier::kernels
#endif  // HWY_ONCE
