/// The transpose of a matrix of float32.
///
/// Thread safety: a function of its arguments alone; runs in the calling thread only.
#pragma once

#include <cstdint>

namespace espalier::kernels {

/// to[j, i] = from[i, j], for i < rows and j < columns. Rows of `from` and of `to` are `next_from` and `next_to`
/// numbers apart. The two do not overlap.
void transpose(std::int64_t rows, std::int64_t columns, const float* from, std::int64_t next_from, float* to,
               std::int64_t next_to);

}  // namespace espalier::kernels
