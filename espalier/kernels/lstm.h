/// The elementwise part of LSTM cells in one pass each: what is read and written once is what takes time there.
///
/// All arrays have n elements; outputs overlap no inputs.
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

/// c = sigmoid(i) tanh(u) + the sum over k of sigmoid(f_k) c_k. `gates` are f_1, c_1, f_2, c_2, ... of all children.
/// Leaves sigmoid(i), tanh(u), sigmoid(f_1), ..., n numbers each, in `saved`.
ESPALIER_EXPORT void lstm_memory(std::int64_t n, const float* i, const float* u, std::int64_t children,
                                 const float* const* gates, float* c, float* saved);
/// Its gradients by i, u, f_1, c_1, ...: as many targets. Of `gates` only c_1, c_2, ... are read.
ESPALIER_EXPORT void lstm_memory_gradient(std::int64_t n, std::int64_t children, const float* const* gates,
                                          const float* saved, const float* dc, const GradientTarget* targets);

/// h = sigmoid(o) tanh(c). Leaves sigmoid(o) and tanh(c) in `saved`.
ESPALIER_EXPORT void lstm_output(std::int64_t n, const float* o, const float* c, float* h, float* saved);
ESPALIER_EXPORT void lstm_output_gradient(std::int64_t n, const float* saved, const float* dh,
                                          const GradientTarget& by_o, const GradientTarget& by_c);

}  // namespace espalier::kernels
