/// Products of one row, for which the fixed cost of a general matrix product is too large a part. product.h chooses.
///
/// Thread safety: functions of their arguments alone; each runs in the calling thread only.
#pragma once

#include <cstdint>

namespace espalier::kernels {

/// y[n] = x[k] B[k, n], or += with `accumulate`
void vector_matrix(std::int64_t n, std::int64_t k, const float* x, const float* b, std::int64_t ldb, float* y,
                   bool accumulate);

/// y[n] = x[k] B[n, k]^T, or +=
void vector_matrix_transposed(std::int64_t n, std::int64_t k, const float* x, const float* b, std::int64_t ldb,
                              float* y, bool accumulate);

/// C[m, n] = x[m]^T y[n], or +=
void outer(std::int64_t m, std::int64_t n, const float* x, const float* y, float* c, std::int64_t ldc, bool accumulate);

}  // namespace espalier::kernels
