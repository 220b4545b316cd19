/// The elementwise part of LSTM cells in one pass each: what is read and written once is what takes time there.
///
/// All arrays have n elements. What is opened may be left in place of what it was opened from, and the gradient of that
/// in place of it; nothing else overlaps.
///
/// Thread safety: functions of their arguments alone; each runs in the calling thread only.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier::kernels {

/// Where a gradient goes: added to, or stored; null where nobody wants it.
struct GradientTarget {
  float* data = nullptr;
  bool store = false;
};

/// c = sigmoid(i) tanh(u) + the sum over k of sigmoid(f_k) c_k, where x is i, u, f_1, c_1, f_2, c_2, ... of all
/// children. Leaves sigmoid(i), tanh(u), sigmoid(f_1), ... in the arrays of `opened`, unless that is null.
ESPALIER_EXPORT void lstm_memory(std::int64_t n, std::int64_t children, const float* const* x, float* c,
                                 float* const* opened);
/// Its gradients by x: as many targets. Of x only c_1, c_2, ... are read.
ESPALIER_EXPORT void lstm_memory_gradient(std::int64_t n, std::int64_t children, const float* const* x,
                                          const float* const* opened, const float* dc, const GradientTarget* targets);

/// h = sigmoid(o) tanh(c). Leaves sigmoid(o) and tanh(c), unless they have no place.
ESPALIER_EXPORT void lstm_output(std::int64_t n, const float* o, const float* c, float* h, float* opened,
                                 float* memory);
ESPALIER_EXPORT void lstm_output_gradient(std::int64_t n, const float* opened, const float* memory, const float* dh,
                                          const GradientTarget& by_o, const GradientTarget& by_c);

}  // namespace espalier::kernels
