#include "espalier/kernels/product.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/kernels/grain.h"
#include "espalier/kernels/onednn.h"
#include "espalier/kernels/outer_product.h"
#include "espalier/kernels/rows.h"
#include "espalier/kernels/small_product.h"

namespace espalier::kernels {
namespace {

struct Sizes {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

void require(std::string_view kernel, const Sizes& sizes) {
  if (sizes.m >= 0 && sizes.n >= 0 && sizes.k >= 0) return;
  throw UsageError(std::string(kernel) + ": sizes m = " + std::to_string(sizes.m) + ", n = " + std::to_string(sizes.n) +
                   ", k = " + std::to_string(sizes.k) + " must not be negative");
}

void require_leading(std::string_view kernel, std::string_view name, std::int64_t leading, std::int64_t width) {
  if (leading >= width) return;
  throw UsageError(std::string(kernel) + ": leading dimension " + std::to_string(leading) + " of " + std::string(name) +
                   " is smaller than its width " + std::to_string(width));
}

/// True if nothing is left to multiply; C is as it has to be then.
bool done_without_product(const Sizes& sizes, float* c, std::int64_t ldc, bool accumulate) {
  if (sizes.m == 0 || sizes.n == 0) return true;
  if (sizes.k > 0) return false;
  if (!accumulate) {
    for (std::int64_t i = 0; i < sizes.m; ++i) std::fill_n(c + i * ldc, sizes.n, 0.0F);
  }
  return true;
}

void sgemm(char transpose_a, char transpose_b, const Sizes& sizes, const float* a, std::int64_t lda, const float* b,
           std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  const OneOpenMpThread one;
  require_success(dnnl_sgemm(transpose_a, transpose_b, sizes.m, sizes.n, sizes.k, 1.0F, a, lda, b, ldb,
                             accumulate ? 1.0F : 0.0F, c, ldc),
                  "a matrix product");
}

/// Splits C by rows, or by columns if its rows are too few to be split.
void split_sgemm(char transpose_a, char transpose_b, const Sizes& sizes, const float* a, std::int64_t lda,
                 const float* b, std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  const std::int64_t row_grain = grain_for(sizes.n * sizes.k);
  if (sizes.m >= 2 * row_grain) {
    const std::int64_t next_row = transpose_a == 'N' ? lda : 1;
    parallel_for(sizes.m, row_grain, [&](std::int64_t begin, std::int64_t end) {
      sgemm(transpose_a, transpose_b, {end - begin, sizes.n, sizes.k}, a + begin * next_row, lda, b, ldb,
            c + begin * ldc, ldc, accumulate);
    });
    return;
  }
  const std::int64_t next_column = transpose_b == 'N' ? 1 : ldb;
  parallel_for(sizes.n, grain_for(sizes.m * sizes.k), [&](std::int64_t begin, std::int64_t end) {
    sgemm(transpose_a, transpose_b, {sizes.m, end - begin, sizes.k}, a, lda, b + begin * next_column, ldb, c + begin,
          ldc, accumulate);
  });
}

}  // namespace

void product(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  affine(m, n, k, a, lda, b, ldb, nullptr, c, ldc, accumulate);
}

void affine(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
            std::int64_t ldb, const float* bias, float* c, std::int64_t ldc, bool accumulate) {
  require("product", {m, n, k});
  require_leading("product", "A", lda, k);
  require_leading("product", "B", ldb, n);
  require_leading("product", "C", ldc, n);
  if (m == 0 || n == 0) return;
  if (is_small_product(m, k, n)) {
    parallel_for(m, grain_for(n * k), [&](std::int64_t begin, std::int64_t end) {
      small_product({a + begin * lda, end - begin, k, lda, nullptr}, b, ldb, bias,
                    {c + begin * ldc, end - begin, n, ldc, nullptr}, accumulate);
    });
    return;
  }
  if (bias != nullptr) {
    for (std::int64_t i = 0; i < m; ++i) {
      const std::span<float> row(c + i * ldc, static_cast<std::size_t>(n));
      if (accumulate)
        add({bias, row.size()}, row);
      else
        copy({bias, row.size()}, row);
    }
  }
  split_sgemm('N', 'N', {m, n, k}, a, lda, b, ldb, c, ldc, accumulate || bias != nullptr);
}

void product_transposed_b(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                          const float* b, std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  require("product_transposed_b", {m, n, k});
  require_leading("product_transposed_b", "A", lda, k);
  require_leading("product_transposed_b", "B", ldb, k);
  require_leading("product_transposed_b", "C", ldc, n);
  if (done_without_product({m, n, k}, c, ldc, accumulate)) return;
  // For a single row ours is about as fast or faster also where it is not small; larger ones are to be split.
  if (is_small_transposed(m, n, k) || (m == 1 && n * k <= kLeastWork)) {
    small_product_transposed({a, m, k, lda, nullptr}, b, ldb, {c, m, n, ldc, nullptr}, accumulate);
    return;
  }
  split_sgemm('N', 'T', {m, n, k}, a, lda, b, ldb, c, ldc, accumulate);
}

void product_transposed_a(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                          const float* b, std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  require("product_transposed_a", {m, n, k});
  require_leading("product_transposed_a", "A", lda, m);
  require_leading("product_transposed_a", "B", ldb, n);
  require_leading("product_transposed_a", "C", ldc, n);
  if (done_without_product({m, n, k}, c, ldc, accumulate)) return;
  if (is_small_gradient(k, m, n)) {
    parallel_for(m, grain_for(n * k), [&](std::int64_t begin, std::int64_t end) {
      small_weight_gradient({a + begin, k, end - begin, lda, nullptr}, {b, k, n, ldb, nullptr}, c + begin * ldc, ldc,
                            accumulate);
    });
    return;
  }
  if (k == 1) {
    // One row of x: bound by memory, never slower than sgemm, and 6 times as fast at 512 x 2048.
    parallel_for(m, grain_for(n), [&](std::int64_t begin, std::int64_t end) {
      outer(end - begin, n, a + begin, b, c + begin * ldc, ldc, accumulate);
    });
    return;
  }
  split_sgemm('T', 'N', {m, n, k}, a, lda, b, ldb, c, ldc, accumulate);
}

}  // namespace espalier::kernels
