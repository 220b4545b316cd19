#include "espalier/kernels/small_product.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/small_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/small_block-inl.h"
#include "espalier/kernels/small_dots-inl.h"
#include "espalier/kernels/small_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

template <std::int64_t kValue>
using Constant = std::integral_constant<std::int64_t, kValue>;

/// Calls f(Constant<count>()).
template <std::int64_t kMost, class F>
HWY_INLINE void WithConstant(std::int64_t count, const F& f) {
  if (count == kMost)
    f(Constant<kMost>());
  else if constexpr (kMost > 1)
    WithConstant<kMost - 1>(count, f);
}

/// Calls f(first, constant count) for blocks of up to kBlockRows rows, as equal as can be.
template <class F>
HWY_INLINE void ForRowBlocks(std::int64_t rows, const F& f) {
  std::int64_t first = 0;
  for (std::int64_t blocks = (rows + kBlockRows - 1) / kBlockRows; blocks > 0; --blocks) {
    const std::int64_t count = (rows - first + blocks - 1) / blocks;
    WithConstant<kBlockRows>(count, [&](auto constant) HWY_ATTR { f(first, constant); });
    first += count;
  }
}

/// Calls f(column, constant chains, constant vectors, constant partial, columns of the last vector) for panels of
/// columns: of kWidest vectors while there are so many, then of two and one. Numbers have two chains.
template <std::int64_t kWidest, class F>
HWY_INLINE void ForPanelsOfTwoChains(std::int64_t columns, const F& f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
  std::int64_t j = 0;
  if constexpr (kWidest > 2)
    for (; j + kWidest * lanes <= columns; j += kWidest * lanes)
      f(j, Constant<2>(), Constant<kWidest>(), std::false_type(), lanes);
  for (; j + 2 * lanes <= columns; j += 2 * lanes) f(j, Constant<2>(), Constant<2>(), std::false_type(), lanes);
  if (j + lanes < columns)
    f(j, Constant<2>(), Constant<2>(), std::true_type(), columns - j - lanes);
  else if (j < columns)
    f(j, Constant<2>(), Constant<1>(), std::true_type(), columns - j);
}

/// The same; numbers have four chains where there is only one vector of columns, which must hide the latency alone.
template <std::int64_t kWidest, class F>
HWY_INLINE void ForPanels(std::int64_t columns, const F& f) {
  if (columns <= static_cast<std::int64_t>(hn::Lanes(FloatTag())))
    f(std::int64_t{0}, Constant<4>(), Constant<1>(), std::true_type(), columns);
  else
    ForPanelsOfTwoChains<kWidest>(columns, f);
}

std::int64_t LanesOfVector() { return static_cast<std::int64_t>(hn::Lanes(FloatTag())); }

#if HWY_TARGET <= HWY_AVX3

/// Y = X W + bias for a W of few columns, as far as there are enough rows: returns how many are done.
std::int64_t NarrowByMatrix(const ConstRows& x, const float* w, std::int64_t next, const float* bias, const Rows& y,
                            bool accumulate, bool relu) {
  constexpr std::int64_t kFewest = 10;
  std::int64_t first = 0;
  WithConstant<kNarrowColumns>(y.width, [&](auto columns) HWY_ATTR {
    while (y.count - first >= kFewest) {
      const std::int64_t count = std::min(kNarrowRows, y.count - first);
      NarrowRows<columns()>(x, first, count, w, next, bias, y, accumulate, relu);
      first += count;
    }
  });
  return first;
}

#else

HWY_INLINE std::int64_t NarrowByMatrix(const ConstRows&, const float*, std::int64_t, const float*, const Rows&, bool,
                                       bool) {
  return 0;
}

#endif

void RowsByMatrix(const ConstRows& x, const float* w, std::int64_t next, const float* bias, const Rows& y,
                  bool accumulate, bool relu) {
  const std::int64_t done = NarrowByMatrix(x, w, next, bias, y, accumulate, relu);
  const std::int64_t rows_left = y.count - done;
  const auto block = [&](std::int64_t r, auto rows, std::int64_t j, auto chains, auto vectors, auto partial,
                         std::int64_t last) HWY_ATTR {
    const Block<chains(), rows(), vectors(), partial()> sums(TermsOfRows<rows()>(x, r, w + j, next), last);
    sums.Put(bias == nullptr ? nullptr : bias + j, accumulate, relu, [&](std::int64_t i) { return y[r + i] + j; });
  };
  if (rows_left <= kFewRows) {
    WithConstant<kFewRows>(rows_left, [&](auto rows) HWY_ATTR {
      ForPanels<4>(y.width, [&](std::int64_t j, auto chains, auto vectors, auto partial, std::int64_t last)
                                HWY_ATTR { block(done, rows, j, chains, vectors, partial, last); });
    });
    return;
  }
  ForPanels<2>(y.width, [&](std::int64_t j, auto chains, auto vectors, auto partial, std::int64_t last) HWY_ATTR {
    ForRowBlocks(rows_left,
                 [&](std::int64_t r, auto rows) HWY_ATTR { block(done + r, rows, j, chains, vectors, partial, last); });
  });
}

/// Over rows begin to end - 1.
void WeightGradient(const ConstRows& x, const ConstRows& dy, std::int64_t begin, std::int64_t end, float* dw,
                    std::int64_t next, bool accumulate) {
  ForRowBlocks(x.width, [&](std::int64_t i, auto rows) HWY_ATTR {
    ForPanels<2>(dy.width, [&](std::int64_t j, auto chains, auto vectors, auto partial, std::int64_t last) HWY_ATTR {
      const Block<chains(), rows(), vectors(), partial()> sums(TermsOfGradient(x, i, dy, j, begin, end), last);
      sums.Put(nullptr, accumulate, /*relu=*/false, [&](std::int64_t r) { return dw + (i + r) * next + j; });
    });
  });
}

/// The same for a dY of few columns, which would leave most of a vector empty: x and dY change places, and each block
/// is turned over. Which panels x is divided into does not change the bits.
void NarrowWeightGradient(const ConstRows& x, const ConstRows& dy, std::int64_t begin, std::int64_t end, float* dw,
                          std::int64_t next, bool accumulate) {
  constexpr std::int64_t kMostColumns = 2 * static_cast<std::int64_t>(hn::MaxLanes(FloatTag()));
  ForRowBlocks(dy.width, [&](std::int64_t j, auto rows) HWY_ATTR {
    ForPanelsOfTwoChains<2>(
        x.width, [&](std::int64_t i, auto chains, auto vectors, auto partial, std::int64_t last) HWY_ATTR {
          const Block<chains(), rows(), vectors(), partial()> sums(TermsOfGradient(dy, j, x, i, begin, end), last);
          float turned[kBlockRows][kMostColumns];
          sums.Put(nullptr, /*accumulate=*/false, /*relu=*/false, [&](std::int64_t r) { return turned[r]; });
          const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
          const std::int64_t columns = (vectors() - 1) * lanes + last;
          for (std::int64_t c = 0; c < columns; ++c) {
            float* const to = dw + (i + c) * next + j;
            for (std::int64_t r = 0; r < rows(); ++r) to[r] = accumulate ? to[r] + turned[r][c] : turned[r][c];
          }
        });
  });
}

/// y[r] = x[r] w + bias, for a single column: dots of four rows at a time.
void RowsByVector(const ConstRows& x, const float* w, const float* bias, const Rows& y, bool accumulate, bool relu) {
  const float* const vector[1] = {w};
  for (std::int64_t r = 0; r < y.count; r += 4) {
    const std::int64_t count = std::min<std::int64_t>(4, y.count - r);
    const float* const rows[4] = {x[r], x[r + std::min<std::int64_t>(1, count - 1)],
                                  x[r + std::min<std::int64_t>(2, count - 1)], x[r + count - 1]};
    const Dots<1> dots(vector, rows, x.width);
    for (std::int64_t i = 0; i < count; ++i) {
      const float sum = bias == nullptr ? dots.row(0)[i] : dots.row(0)[i] + *bias;
      const float result = accumulate ? sum + *y[r + i] : sum;
      *y[r + i] = relu && result <= 0 ? 0 : result;
    }
  }
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(LanesOfVector);
HWY_EXPORT(RowsByMatrix);
HWY_EXPORT(RowsByVector);
HWY_EXPORT(RowsByTransposed);
HWY_EXPORT(WeightGradient);
HWY_EXPORT(NarrowWeightGradient);

namespace {

/// AVX-512 also has twice the registers of AVX2, so that these products are not slower than others at many rows either.
bool has_wide_vectors() { return HWY_DYNAMIC_DISPATCH(LanesOfVector)() >= 16; }

}  // namespace

bool is_small_product(std::int64_t rows, std::int64_t k, std::int64_t n) {
  if (!has_wide_vectors()) return rows * k * n <= std::int64_t{1} << 15;
  return is_small_matrix(k, n) || (rows <= 8 && k * n <= std::int64_t{1} << 16);
}

bool is_small_transposed(std::int64_t rows, std::int64_t k, std::int64_t n) {
  return is_small_matrix(k, n) && (rows <= 8 || n == 1);
}

bool is_small_gradient(std::int64_t rows, std::int64_t k, std::int64_t n) {
  return has_wide_vectors() ? k * n <= 8192 : rows * k * n <= std::int64_t{1} << 14;
}

// A single column that lies without gaps is a row as well.

void small_product(const ConstRows& x, const float* w, std::int64_t next, const float* bias, const Rows& y,
                   bool accumulate, bool relu) {
  if (y.width == 1 && next == 1)
    HWY_DYNAMIC_DISPATCH(RowsByVector)(x, w, bias, y, accumulate, relu);
  else
    HWY_DYNAMIC_DISPATCH(RowsByMatrix)(x, w, next, bias, y, accumulate, relu);
}

void small_product_transposed(const ConstRows& y, const float* w, std::int64_t next, const Rows& x, bool accumulate) {
  if (y.width == 1 && next == 1)
    HWY_DYNAMIC_DISPATCH(RowsByMatrix)(y, w, x.width, nullptr, x, accumulate, /*relu=*/false);
  else
    HWY_DYNAMIC_DISPATCH(RowsByTransposed)(y, w, next, x, accumulate);
}

void small_weight_gradient(const ConstRows& x, const ConstRows& dy, float* dw, std::int64_t next, bool accumulate) {
  // So few rows stay in the cache while all of dW passes.
  constexpr std::int64_t kRowsAtATime = 256;
  constexpr std::int64_t kFewColumns = 8;
  const bool is_row = dy.width == 1 && next == 1;
  const bool is_narrow = !is_row && dy.width <= kFewColumns;
  const ConstRows& factors = is_row ? dy : x;
  const ConstRows& vectors = is_row ? x : dy;
  std::int64_t begin = 0;
  do {
    const std::int64_t end = std::min(begin + kRowsAtATime, x.count);
    if (is_narrow)
      HWY_DYNAMIC_DISPATCH(NarrowWeightGradient)(x, dy, begin, end, dw, next, accumulate || begin > 0);
    else
      HWY_DYNAMIC_DISPATCH(WeightGradient)(factors, vectors, begin, end, dw, next, accumulate || begin > 0);
    begin = end;
  } while (begin < x.count);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
