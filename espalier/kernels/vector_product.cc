#include "espalier/kernels/vector_product.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/vector_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

/// Four vectors of y at once, held in registers while all k rows pass. Even and odd rows have their own sums: one chain
/// of multiply-adds each would wait for its latency. Written out, because a loop over an array of sums stays in memory.
HWY_INLINE void FourVectors(std::int64_t k, const float* HWY_RESTRICT x, const float* HWY_RESTRICT b, std::int64_t ldb,
                            float* HWY_RESTRICT y, bool accumulate) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t at1 = lanes;
  const std::size_t at2 = 2 * lanes;
  const std::size_t at3 = 3 * lanes;
  const auto zero = hn::Zero(d);
  auto even0 = accumulate ? hn::LoadU(d, y) : zero;
  auto even1 = accumulate ? hn::LoadU(d, y + at1) : zero;
  auto even2 = accumulate ? hn::LoadU(d, y + at2) : zero;
  auto even3 = accumulate ? hn::LoadU(d, y + at3) : zero;
  auto odd0 = zero;
  auto odd1 = zero;
  auto odd2 = zero;
  auto odd3 = zero;
  std::int64_t i = 0;
  for (; i + 2 <= k; i += 2) {
    const auto x0 = hn::Set(d, x[0]);
    const auto x1 = hn::Set(d, x[1]);
    const float* const next = b + ldb;
    even0 = hn::MulAdd(x0, hn::LoadU(d, b), even0);
    even1 = hn::MulAdd(x0, hn::LoadU(d, b + at1), even1);
    even2 = hn::MulAdd(x0, hn::LoadU(d, b + at2), even2);
    even3 = hn::MulAdd(x0, hn::LoadU(d, b + at3), even3);
    odd0 = hn::MulAdd(x1, hn::LoadU(d, next), odd0);
    odd1 = hn::MulAdd(x1, hn::LoadU(d, next + at1), odd1);
    odd2 = hn::MulAdd(x1, hn::LoadU(d, next + at2), odd2);
    odd3 = hn::MulAdd(x1, hn::LoadU(d, next + at3), odd3);
    x += 2;
    b += 2 * ldb;
  }
  if (i < k) {
    const auto x0 = hn::Set(d, x[0]);
    even0 = hn::MulAdd(x0, hn::LoadU(d, b), even0);
    even1 = hn::MulAdd(x0, hn::LoadU(d, b + at1), even1);
    even2 = hn::MulAdd(x0, hn::LoadU(d, b + at2), even2);
    even3 = hn::MulAdd(x0, hn::LoadU(d, b + at3), even3);
  }
  hn::StoreU(hn::Add(even0, odd0), d, y);
  hn::StoreU(hn::Add(even1, odd1), d, y + at1);
  hn::StoreU(hn::Add(even2, odd2), d, y + at2);
  hn::StoreU(hn::Add(even3, odd3), d, y + at3);
}

/// The same for one vector, of any width; four sums, because there is nothing else to do meanwhile.
template <class D>
HWY_INLINE void OneVector(D d, std::int64_t k, const float* HWY_RESTRICT x, const float* HWY_RESTRICT b,
                          std::int64_t ldb, float* HWY_RESTRICT y, bool accumulate) {
  auto sum0 = accumulate ? hn::LoadU(d, y) : hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    sum0 = hn::MulAdd(hn::Set(d, x[0]), hn::LoadU(d, b), sum0);
    sum1 = hn::MulAdd(hn::Set(d, x[1]), hn::LoadU(d, b + ldb), sum1);
    sum2 = hn::MulAdd(hn::Set(d, x[2]), hn::LoadU(d, b + 2 * ldb), sum2);
    sum3 = hn::MulAdd(hn::Set(d, x[3]), hn::LoadU(d, b + 3 * ldb), sum3);
    x += 4;
    b += 4 * ldb;
  }
  for (; i < k; ++i) {
    sum0 = hn::MulAdd(hn::Set(d, x[0]), hn::LoadU(d, b), sum0);
    ++x;
    b += ldb;
  }
  hn::StoreU(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)), d, y);
}

/// kLanes columns from j on, if so many are left and a full vector is wider.
template <std::size_t kLanes>
HWY_INLINE void VectorMatrixRest(std::int64_t n, std::int64_t k, const float* x, const float* b, std::int64_t ldb,
                                 float* y, bool accumulate, std::int64_t& j) {
  const hn::CappedTag<float, kLanes> d;
  if (j + static_cast<std::int64_t>(kLanes) > n || hn::Lanes(d) != kLanes) return;
  OneVector(d, k, x, b + j, ldb, y + j, accumulate);
  j += kLanes;
}

void VectorMatrix(std::int64_t n, std::int64_t k, const float* x, const float* b, std::int64_t ldb, float* y,
                  bool accumulate) {
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) FourVectors(k, x, b + j, ldb, y + j, accumulate);
  for (; j + lanes <= n; j += lanes) OneVector(d, k, x, b + j, ldb, y + j, accumulate);
  VectorMatrixRest<8>(n, k, x, b, ldb, y, accumulate, j);
  VectorMatrixRest<4>(n, k, x, b, ldb, y, accumulate, j);
  VectorMatrixRest<2>(n, k, x, b, ldb, y, accumulate, j);
  VectorMatrixRest<1>(n, k, x, b, ldb, y, accumulate, j);
}

/// Four rows of B share every load of x.
void VectorMatrixTransposed(std::int64_t n, std::int64_t k, const float* HWY_RESTRICT x, const float* HWY_RESTRICT b,
                            std::int64_t ldb, float* HWY_RESTRICT y, bool accumulate) {
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto rest = static_cast<std::size_t>(k % lanes);
  const std::int64_t whole = k - k % lanes;
  std::int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const float* const row0 = b + j * ldb;
    const float* const row1 = row0 + ldb;
    const float* const row2 = row1 + ldb;
    const float* const row3 = row2 + ldb;
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    for (std::int64_t i = 0; i < whole; i += lanes) {
      const auto v = hn::LoadU(d, x + i);
      sum0 = hn::MulAdd(v, hn::LoadU(d, row0 + i), sum0);
      sum1 = hn::MulAdd(v, hn::LoadU(d, row1 + i), sum1);
      sum2 = hn::MulAdd(v, hn::LoadU(d, row2 + i), sum2);
      sum3 = hn::MulAdd(v, hn::LoadU(d, row3 + i), sum3);
    }
    if (rest != 0) {
      const auto v = LoadPart(d, x + whole, rest);
      sum0 = hn::MulAdd(v, LoadPart(d, row0 + whole, rest), sum0);
      sum1 = hn::MulAdd(v, LoadPart(d, row1 + whole, rest), sum1);
      sum2 = hn::MulAdd(v, LoadPart(d, row2 + whole, rest), sum2);
      sum3 = hn::MulAdd(v, LoadPart(d, row3 + whole, rest), sum3);
    }
    const float sums[4] = {hn::GetLane(hn::SumOfLanes(d, sum0)), hn::GetLane(hn::SumOfLanes(d, sum1)),
                           hn::GetLane(hn::SumOfLanes(d, sum2)), hn::GetLane(hn::SumOfLanes(d, sum3))};
    for (std::int64_t r = 0; r < 4; ++r) y[j + r] = accumulate ? y[j + r] + sums[r] : sums[r];
  }
  for (; j < n; ++j) {
    const float* const row = b + j * ldb;
    const float sum = SumOver(static_cast<std::size_t>(k),
                              [x, row](auto s, auto load) HWY_ATTR { return hn::MulAdd(load(x), load(row), s); });
    y[j] = accumulate ? y[j] + sum : sum;
  }
}

void Outer(std::int64_t m, std::int64_t n, const float* x, const float* y, float* c, std::int64_t ldc,
           bool accumulate) {
  for (std::int64_t i = 0; i < m; ++i) {
    const float xi = x[i];
    float* const row = c + i * ldc;
    if (accumulate) {
      Update(y, row, static_cast<std::size_t>(n),
             [xi](auto d, auto v, auto sum) HWY_ATTR { return hn::MulAdd(hn::Set(d, xi), v, sum); });
    } else {
      Map(y, row, static_cast<std::size_t>(n), [xi](auto d, auto v) HWY_ATTR { return hn::Mul(hn::Set(d, xi), v); });
    }
  }
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(VectorMatrix);
HWY_EXPORT(VectorMatrixTransposed);
HWY_EXPORT(Outer);

void vector_matrix(std::int64_t n, std::int64_t k, const float* x, const float* b, std::int64_t ldb, float* y,
                   bool accumulate) {
  HWY_DYNAMIC_DISPATCH(VectorMatrix)(n, k, x, b, ldb, y, accumulate);
}

void vector_matrix_transposed(std::int64_t n, std::int64_t k, const float* x, const float* b, std::int64_t ldb,
                              float* y, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(VectorMatrixTransposed)(n, k, x, b, ldb, y, accumulate);
}

void outer(std::int64_t m, std::int64_t n, const float* x, const float* y, float* c, std::int64_t ldc,
           bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Outer)(m, n, x, y, c, ldc, accumulate);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
