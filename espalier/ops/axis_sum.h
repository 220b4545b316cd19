/// Kernels shared by sum and mean over an axis.
#pragma once

#include "espalier/ops/axis.h"
#include "espalier/ops/op.h"

namespace espalier::ops {

/// y = factor * sum of x over the axis.
inline void axis_sum(const AxisView& view, float factor, const StepIn& in, const Rows& y) {
  for (std::int64_t r = 0; r < in.rows; ++r)
    for (std::size_t o = 0; o < view.outer; ++o) {
      const float* x = in[0][r] + o * view.size * view.inner;
      const std::span<float> part(y[r] + o * view.inner, view.inner);
      if (view.inner == 1) {
        part[0] = factor * kernels::sum({x, view.size});
        continue;
      }
      kernels::fill(0.0F, part);
      for (std::size_t s = 0; s < view.size; ++s) kernels::add_scaled(factor, {x + s * view.inner, view.inner}, part);
    }
}

inline void axis_sum_backward(const AxisView& view, float factor, const ConstRows& dy, const GradRows& dx) {
  if (!dx) return;
  for (std::int64_t r = 0; r < dy.count; ++r) {
    const std::span<float> row = dx.open(r);
    for (std::size_t o = 0; o < view.outer; ++o) {
      const std::span<const float> part(dy[r] + o * view.inner, view.inner);
      const std::span<float> of_part = row.subspan(o * view.size * view.inner, view.size * view.inner);
      if (view.inner == 1)
        for (float& element : of_part) element += factor * part[0];
      else
        for (std::size_t s = 0; s < view.size; ++s)
          kernels::add_scaled(factor, part, of_part.subspan(s * view.inner, view.inner));
    }
  }
}

}  // namespace espalier::ops
