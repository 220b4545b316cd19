/// Kernels shared by concat and stack: every row of the result is, `outer` times, a part of each input in turn.
#pragma once

#include "espalier/ops/op.h"

namespace espalier::ops {

template <class T>
void plain_interleave(std::size_t outer, const PlainIn<T>& in, std::span<T> y) {
  std::size_t at = 0;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t k = 0; k < in.size(); ++k) {
      const std::size_t part = in[k].size() / outer;
      for (std::size_t i = 0; i < part; ++i) y[at++] = in[k][o * part + i];
    }
}

inline void interleave(std::size_t outer, const StepIn& in, const Rows& y) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    float* to = y[r];
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t k = 0; k < in.size(); ++k) {
        const std::size_t part = static_cast<std::size_t>(in[k].width) / outer;
        kernels::copy({in[k][r] + o * part, part}, {to, part});
        to += part;
      }
  }
}

inline void interleave_backward(std::size_t outer, const Saved& saved, Grads& grads) {
  const std::size_t whole = outer == 0 ? 0 : static_cast<std::size_t>(saved.dy.width) / outer;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < saved.in.size(); ++k) {
    const std::size_t part = outer == 0 ? 0 : static_cast<std::size_t>(saved.in.shape(k).elements()) / outer;
    if (grads[k]) {
      for (std::int64_t r = 0; r < saved.in.rows; ++r) {
        if (outer == 1) {
          grads[k].add(r, saved.dy[r] + begin);
          continue;
        }
        const std::span<float> row = grads[k].open(r);
        for (std::size_t o = 0; o < outer; ++o)
          kernels::add({saved.dy[r] + o * whole + begin, part}, row.subspan(o * part, part));
      }
    }
    begin += part;
  }
}

}  // namespace espalier::ops
