#include "espalier/batch/schedule.h"

#include "espalier/base/error.h"
#include "espalier/batch/analysis.h"

namespace espalier::batch {

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::kNone: return "none";
    case Strategy::kDepth: return "depth";
    case Strategy::kAgenda: return "agenda";
    case Strategy::kFrontier: return "frontier";
  }
  return "unknown";
}

Schedule schedule(Strategy strategy, const Graph& graph) {
  switch (strategy) {
    case Strategy::kNone: return schedule_none(graph);
    case Strategy::kDepth: return schedule_depth(graph);
    case Strategy::kAgenda: return schedule_agenda(graph);
    case Strategy::kFrontier: return schedule_frontier(graph);
  }
  throw InternalError("schedule: unknown strategy");
}

void set_bound(Schedule& schedule, const Paths& paths) {
  schedule.bound = paths.bound;
  schedule.bound_is_exact = paths.exact;
  schedule.forced = schedule.steps() - paths.bound;
}

}  // namespace espalier::batch
