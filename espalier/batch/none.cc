/// One node a step: what runs without batching, and what batching is compared with.
#include <numeric>

#include "espalier/batch/strategies.h"

namespace espalier::batch {

Schedule schedule_none(const Graph& graph, Workspace& work) {
  work.analysis.look_at(graph);
  Schedule result;
  result.order.resize(graph.signature.size());
  result.step_begin.resize(graph.signature.size() + 1);
  std::iota(result.order.begin(), result.order.end(), 0);
  std::iota(result.step_begin.begin(), result.step_begin.end(), 0);
  work.analysis.set_bound(result);
  return result;
}

}  // namespace espalier::batch
