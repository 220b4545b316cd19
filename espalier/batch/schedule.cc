#include "espalier/batch/schedule.h"

#include "espalier/base/error.h"
#include "espalier/batch/strategies.h"

namespace espalier::batch {
namespace {

Schedule schedule_with(Strategy strategy, const Graph& graph, Workspace& work) {
  switch (strategy) {
    case Strategy::kNone: return schedule_none(graph, work);
    case Strategy::kDepth: return schedule_depth(graph, work);
    case Strategy::kAgenda: return schedule_agenda(graph, work);
    case Strategy::kFrontier: return schedule_frontier(graph, work);
  }
  throw InternalError("schedule: unknown strategy");
}

}  // namespace

Schedule schedule(Strategy strategy, const Graph& graph) {
  // A graph of this many nodes and uses takes up to 8 MB, the most that a thread keeps.
  constexpr std::size_t kMostKept = 200'000;
  if (graph.signature.size() + graph.inputs.size() > kMostKept) {
    Workspace work;
    return schedule_with(strategy, graph, work);
  }
  thread_local Workspace work;
  return schedule_with(strategy, graph, work);
}

}  // namespace espalier::batch
