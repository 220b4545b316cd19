/// Shared by ops that work along one axis: the attribute, and a row seen as [outer, size, inner] around that axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/ops/op.h"

namespace espalier::ops {

struct AxisAttrs {
  std::int32_t axis = 0;
  bool operator==(const AxisAttrs&) const = default;
};

/// Element (o, s, i) of a row is at (o * size + s) * inner + i.
struct AxisView {
  std::size_t outer = 1;
  std::size_t size = 1;
  std::size_t inner = 1;

  AxisView(const Shape& shape, std::int32_t axis) {
    for (std::int32_t a = 0; a < shape.rank(); ++a)
      (a < axis ? outer : a == axis ? size : inner) *= static_cast<std::size_t>(shape[a]);
  }
};

/// A negative axis counts from the last. An axis outside x is returned unchanged, so that Op refuses it.
template <class Op>
std::int32_t axis_of(const Operand& x, std::int32_t axis) {
  if (axis >= 0) return axis;
  find_graph(info_of<Op>(), std::span<const Operand>(&x, 1));  // a stale operand is refused in the op's name
  const std::int32_t rank = x.shape().rank();
  return axis >= -rank ? axis + rank : axis;
}
template <class Op>
std::int32_t axis_of(const Operands& x, std::int32_t axis, std::int32_t more_axes = 0) {
  if (axis >= 0) return axis;
  graph_of(info_of<Op>(), x);
  const std::int32_t rank = x.list()[0].shape().rank() + more_axes;
  return axis >= -rank ? axis + rank : axis;
}

}  // namespace espalier::ops
