/// Reductions, updates, softmax and row moves over contiguous float32, vectorised for the processor found at run time.
///
/// Spans of one call have the same size (refused otherwise), and an output is the same memory as an input or does not
/// overlap it. Sums run in a fixed order that depends on the length and the processor only.
///
/// Thread safety: functions of their arguments alone; each runs in the calling thread only.
#pragma once

#include <cstdint>
#include <span>

#include "espalier/base/export.h"

namespace espalier::kernels {

// Reductions.

/// 0 if empty.
ESPALIER_EXPORT float sum(std::span<const float> x);
ESPALIER_EXPORT float dot(std::span<const float> a, std::span<const float> b);
ESPALIER_EXPORT float squared_norm(std::span<const float> x);
/// NaN if any element is; -inf if empty.
ESPALIER_EXPORT float max(std::span<const float> x);

// Updates.

/// y += x
ESPALIER_EXPORT void add(std::span<const float> x, std::span<float> y);
/// y += alpha x
ESPALIER_EXPORT void add_scaled(float alpha, std::span<const float> x, std::span<float> y);
/// y *= alpha
ESPALIER_EXPORT void scale(float alpha, std::span<float> y);
/// y += a b, elementwise
ESPALIER_EXPORT void multiply_add(std::span<const float> a, std::span<const float> b, std::span<float> y);
/// y = 0 where it is negative; NaN stays
ESPALIER_EXPORT void relu(std::span<float> y);
ESPALIER_EXPORT void fill(float value, std::span<float> y);
ESPALIER_EXPORT void copy(std::span<const float> x, std::span<float> y);

// Softmax. The largest element is subtracted first, so nothing overflows. A NaN anywhere makes every result NaN.
// Elements of -inf have probability 0, log-probability -inf.

/// NaN everywhere if all elements are -inf (0 / 0) or one is +inf (inf / inf).
ESPALIER_EXPORT void softmax(std::span<const float> x, std::span<float> y);
/// NaN everywhere if all elements are -inf or one is +inf.
ESPALIER_EXPORT void log_softmax(std::span<const float> x, std::span<float> y);
/// log of the sum of e^x: -inf if empty or all elements are -inf, +inf if one is +inf and none is NaN.
ESPALIER_EXPORT float logsumexp(std::span<const float> x);

// Rows of a [rows, width] table, row-major. The caller has checked that the row numbers are inside the table.

/// out[i] = table[rows[i]]; out is [rows.size(), width].
ESPALIER_EXPORT void gather_rows(const float* table, std::int64_t width, std::span<const std::int32_t> rows,
                                 float* out);
/// table[rows[i]] += in[i], in the order of i, so that repeated rows always add up to the same bits.
ESPALIER_EXPORT void scatter_add_rows(const float* in, std::int64_t width, std::span<const std::int32_t> rows,
                                      float* table);

}  // namespace espalier::kernels
