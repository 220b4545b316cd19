/// The outer product of two vectors, bound by memory: the gradient of weights by a single row.
///
/// Thread safety: a function of its arguments alone; runs in the calling thread only.
#pragma once

#include <cstdint>

namespace espalier::kernels {

/// C[m, n] = x[m]^T y[n], or += with `accumulate`
void outer(std::int64_t m, std::int64_t n, const float* x, const float* y, float* c, std::int64_t ldc, bool accumulate);

}  // namespace espalier::kernels
