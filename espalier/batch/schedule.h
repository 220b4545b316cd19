/// Schedules: which nodes run together, and in which order. A strategy makes one from a graph of integers.
///
/// Thread safety: pure functions, each thread with memory of its own.
///
/// Invariants of a schedule:
///  1. Every node is in exactly one step.
///  2. The nodes of a step have one signature, and none of them depends on another of them.
///  3. A node's inputs are in earlier steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/strategy.h"
#include "espalier/batch/graph.h"

namespace espalier::batch {

struct Schedule {
  /// All nodes, step after step.
  std::vector<std::int32_t> order;
  /// Step i is order[step_begin[i]] to order[step_begin[i + 1] - 1].
  std::vector<std::int32_t> step_begin{0};
  /// No schedule has fewer steps: for each signature, the most nodes of it on any one path.
  std::int64_t bound = 0;
  /// False where so many signatures depend on each other that the bound was only estimated, from below.
  bool bound_is_exact = true;
  /// Steps beyond the bound.
  std::int64_t forced = 0;

  std::int64_t steps() const { return static_cast<std::int64_t>(step_begin.size()) - 1; }
  std::span<const std::int32_t> step(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return std::span<const std::int32_t>(order).subspan(static_cast<std::size_t>(step_begin[at]),
                                                        static_cast<std::size_t>(step_begin[at + 1] - step_begin[at]));
  }
};

ESPALIER_EXPORT Schedule schedule(Strategy strategy, const Graph& graph);

}  // namespace espalier::batch
