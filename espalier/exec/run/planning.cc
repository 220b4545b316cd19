/// From a problem to its plan: a known one, or a schedule by the graph's strategy and then places.
#include "espalier/batch/own_strategy.h"
#include "espalier/batch/schedule.h"
#include "espalier/exec/run/engine.h"
#include "espalier/exec/run/plan_cache.h"
#include "espalier/exec/run/schedule_input.h"
#include "espalier/exec/traced.h"

namespace espalier::exec {
std::shared_ptr<const plan::Plan> Engine::plan_of(plan::Problem& problem) {
  Stopwatch watch;
  const batch::OwnStrategy* const own = graph_.options().own_strategy.get();
  problem.strategy = graph_.options().strategy;
  problem.own_strategy = own != nullptr ? own->uid() : 0;
  plan::require_addressable(problem);
  ++statistics_.plans;
  const bool traced = Trace::is_on();
  SpanTimer finding(traced, [&] { return span_of(graph_, Doing::kPlanning, statistics_.runs); });
  const std::uint64_t hash = hash_of(problem);
  if (std::shared_ptr<const plan::Plan> known = find_plan(problem, hash)) {
    ++statistics_.plan_hits;
    watch.lap(statistics_.seconds.planning);
    return known;
  }
  const ScheduleInput input(problem);
  watch.lap(statistics_.seconds.planning);
  finding.stop();
  SpanTimer scheduling(traced, [&] { return span_of(graph_, Doing::kScheduling, statistics_.runs); });
  const batch::Schedule schedule =
      own != nullptr ? own->schedule(input.graph()) : batch::schedule(problem.strategy, input.graph());
  watch.lap(statistics_.seconds.scheduling);
  scheduling.stop();
  SpanTimer placing(traced, [&] { return span_of(graph_, Doing::kPlanning, statistics_.runs); });
  // Once its runs were forgotten, the newest plan is of no use but for its memory.
  plan::Plan spare;
  if (newest_plan_ != nullptr && newest_plan_.use_count() == 1) spare = std::move(*newest_plan_);
  auto made = std::make_shared<plan::Plan>(plan::make_plan(problem, schedule, std::move(spare)));
  newest_plan_ = offer_plan(problem, hash, made) ? nullptr : made;
  watch.lap(statistics_.seconds.planning);
  return made;
}

}  // namespace espalier::exec
