/// Columns: loops over the columns of rows for Highway code, whole vectors first, then the rest by masks.
///
/// Internal: include after hwy/foreach_target.h and hwy/highway.h, from a file compiled once a target.

#if defined(ESPALIER_BENCH_LIMIT_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)  // NOLINT: Highway's once-a-target guard
#ifdef ESPALIER_BENCH_LIMIT_COLUMNS_INL_H_
#undef ESPALIER_BENCH_LIMIT_COLUMNS_INL_H_
#else
#define ESPALIER_BENCH_LIMIT_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::FloatTag;
using kernels::HWY_NAMESPACE::FloatVector;
using kernels::HWY_NAMESPACE::Sigmoid;
using kernels::HWY_NAMESPACE::Tanh;

/// How a loop's body reads and writes a vector of columns: all of it,
struct WholeVector {
  HWY_INLINE FloatVector Load(const float* p) const { return hn::LoadU(FloatTag(), p); }
  HWY_INLINE void Store(FloatVector v, float* p) const { hn::StoreU(v, FloatTag(), p); }
};
/// or the first few lanes.
struct PartOfVector {
  std::size_t count;
  HWY_INLINE FloatVector Load(const float* p) const { return kernels::HWY_NAMESPACE::LoadPart(FloatTag(), p, count); }
  HWY_INLINE void Store(FloatVector v, float* p) const { kernels::HWY_NAMESPACE::StorePart(v, FloatTag(), p, count); }
};

/// Calls f(access, column) for every vector of `columns` columns.
template <class F>
HWY_INLINE void ForColumns(std::int64_t columns, const F& f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
  std::int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) f(WholeVector(), j);
  if (j < columns) f(PartOfVector{static_cast<std::size_t>(columns - j)}, j);
}

/// Calls f(begin, end) for blocks of rows that go through the columns together: sums over rows stay in registers
/// meanwhile.
template <class F>
HWY_INLINE void ForRowBlocks(std::int64_t rows, const F& f) {
  constexpr std::int64_t kRowsTogether = 16;
  for (std::int64_t begin = 0; begin < rows; begin += kRowsTogether) f(begin, std::min(rows, begin + kRowsTogether));
}

/// y (1 - y), times d: the gradient through a sigmoid of value y.
HWY_INLINE FloatVector ThroughSigmoid(FloatVector y, FloatVector d) { return hn::Mul(d, hn::NegMulAdd(y, y, y)); }
/// (1 - y^2) d: the gradient through a tanh of value y.
HWY_INLINE FloatVector ThroughTanh(FloatVector y, FloatVector d) { return hn::NegMulAdd(hn::Mul(y, y), d, d); }

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ESPALIER_BENCH_LIMIT_COLUMNS_INL_H_
