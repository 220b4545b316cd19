/// Maps between products, in place over rows without gaps, and their gradients with the column sums that are those of a
/// bias.
#pragma once

#include <cstdint>

namespace espalier::bench {

void relu_rows(std::int64_t rows, std::int64_t width, float* y);
void tanh_rows(std::int64_t rows, std::int64_t width, float* y);

/// d becomes the gradient before the map that gave y. Adds its rows up in `bias`.
void relu_rows_backward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias);
void tanh_rows_backward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias);

}  // namespace espalier::bench
