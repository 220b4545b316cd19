/// Shared by ops over the last axis: a row seen as lines of `size` elements.
#pragma once

#include <cstddef>

#include "espalier/ops/op.h"

namespace espalier::ops {

/// Refuses rank 0 and a last axis without elements.
inline void require_last_axis(const InputShapes& in) {
  in.require_rank_at_least("x", 1);
  if (in["x"].last() == 0) in.refuse("the last axis of x " + in["x"].to_string() + " has no elements");
}

struct Lines {
  std::size_t size;
  std::size_t count;

  explicit Lines(const Shape& shape)
      : size(static_cast<std::size_t>(shape.last())), count(static_cast<std::size_t>(shape.elements()) / size) {}

  template <class T>
  std::span<T> line(T* row, std::size_t i) const {
    return {row + i * size, size};
  }
};

/// The largest element; which one, if some are NaN, does not matter: NaN then passes through the sum of exponentials.
template <class T>
T largest(std::span<const T> x) {
  T most = x[0];
  for (const T& element : x)
    if (element > most) most = element;
  return most;
}

}  // namespace espalier::ops
