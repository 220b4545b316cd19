/// Matrix products of float32, row-major, over pointers and leading dimensions (the distance between two rows).
///
/// C must not overlap A or B. Any size may be 0: without `accumulate`, a product over k = 0 gives zeros, also where C
/// held NaN. A leading dimension is at least the width of a row (refused otherwise).
///
/// Thread safety: may be called from any thread. Large products are split over the pool of espalier/base/threads.h;
/// bits depend on the sizes, the processor and thread_count() only. The caller's OpenMP settings are left as they were.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier::kernels {

/// C[m, n] = A[m, k] B[k, n], or += with `accumulate`.
ESPALIER_EXPORT void product(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                             const float* b, std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate);

/// The same with bias[n] added to every row, unless it is null.
ESPALIER_EXPORT void affine(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                            const float* b, std::int64_t ldb, const float* bias, float* c, std::int64_t ldc,
                            bool accumulate);

/// C[m, n] = A[m, k] B[n, k]^T, or +=: the gradient of x in y = x W.
ESPALIER_EXPORT void product_transposed_b(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                                          std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                                          std::int64_t ldc, bool accumulate);

/// C[m, n] = A[k, m]^T B[k, n], or +=: the gradient of W in y = x W.
ESPALIER_EXPORT void product_transposed_a(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                                          std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                                          std::int64_t ldc, bool accumulate);

}  // namespace espalier::kernels
