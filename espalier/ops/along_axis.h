/// along_axis(): an op over the last axis, over any other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/ops/transpose.h"

namespace espalier::ops {

/// Applies f, which works along the last axis and keeps the shape, along `axis`: swaps the two before and after. A
/// negative axis counts from the last. Refuses (UsageError), in the name of Op, an axis outside x.
template <class Op, class F>
Expr along_axis(const Operand& x, std::int32_t axis, const F& f) {
  const std::int32_t along = axis_of<Op>(x, axis);
  const Shape shape = x.shape();
  const std::int32_t last = shape.rank() - 1;
  if (along < 0 || along > last)
    throw UsageError(std::string(Op::kName) + ": axis " + std::to_string(axis) + " is outside x " + shape.to_string() +
                     " (rank " + std::to_string(shape.rank()) + ")\n  at " + x.where().to_string());
  if (along == last) return f(x);
  TransposeAttrs swapped{shape.rank(), {}};
  for (std::int32_t a = 0; a <= last; ++a) swapped.axes[static_cast<std::size_t>(a)] = a;
  std::swap(swapped.axes[static_cast<std::size_t>(along)], swapped.axes[static_cast<std::size_t>(last)]);
  const auto swap_axes = [&](const Operand& y) { return record<Transpose>({y}, swapped); };
  return swap_axes(x.at(f(x.at(swap_axes(x)))));
}

}  // namespace espalier::ops
