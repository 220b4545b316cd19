/// One node a step: what runs without batching, and what batching is compared with.
#include <numeric>

#include "espalier/batch/analysis.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

Schedule schedule_none(const Graph& graph) {
  Schedule result;
  result.order.resize(static_cast<std::size_t>(graph.size()));
  result.step_begin.resize(static_cast<std::size_t>(graph.size()) + 1);
  std::iota(result.order.begin(), result.order.end(), 0);
  std::iota(result.step_begin.begin(), result.step_begin.end(), 0);
  set_bound(result, paths_of(graph));
  return result;
}

}  // namespace espalier::batch
