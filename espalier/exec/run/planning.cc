/// From a problem to its plan: a known one, or a schedule by the graph's strategy and then places.
#include "espalier/batch/own_strategy.h"
#include "espalier/batch/schedule.h"
#include "espalier/exec/run/engine.h"
#include "espalier/exec/run/plan_cache.h"

namespace espalier::exec {
namespace {

/// The nodes and edges that a strategy sees: operands from outside the run are left out.
class ScheduleInput {
 public:
  explicit ScheduleInput(const plan::Problem& problem) : problem_(problem) {
    const std::size_t nodes = problem.signature.size();
    lists_.begin.resize(nodes + 1);
    lists_.inputs.resize(problem.inputs.size());
    std::int32_t* next = lists_.inputs.data();
    lists_.begin[0] = 0;
    for (std::size_t v = 0; v < nodes; ++v) {
      for (std::int32_t p = problem.input_begin[v]; p < problem.input_begin[v + 1]; ++p)
        if (problem.inputs[at(p)] >= 0) *next++ = problem.inputs[at(p)];
      lists_.begin[v + 1] = static_cast<std::int32_t>(next - lists_.inputs.data());
    }
    lists_.inputs.resize(at(lists_.begin[nodes]));
  }
  ~ScheduleInput() {
    if (lists_.inputs.capacity() > kMostKept) lists_ = {};
  }
  ScheduleInput(const ScheduleInput&) = delete;
  ScheduleInput& operator=(const ScheduleInput&) = delete;

  batch::Graph graph() const {
    return {problem_.signature, static_cast<std::int32_t>(problem_.facts.size()), lists_.begin, lists_.inputs};
  }

 private:
  static constexpr std::size_t kMostKept = 200'000;  // inputs: more are forgotten
  /// Memory that a thread keeps from one schedule to the next.
  struct Lists {
    std::vector<std::int32_t> begin;
    std::vector<std::int32_t> inputs;

    static Lists& of_thread() {
      thread_local Lists lists;
      return lists;
    }
  };

  const plan::Problem& problem_;
  Lists& lists_ = Lists::of_thread();
};

}  // namespace

std::shared_ptr<const plan::Plan> Engine::plan_of(plan::Problem& problem) {
  Stopwatch watch;
  const batch::OwnStrategy* const own = graph_.options().own_strategy.get();
  problem.strategy = graph_.options().strategy;
  problem.own_strategy = own != nullptr ? own->uid() : 0;
  plan::require_addressable(problem);
  ++statistics_.plans;
  const std::uint64_t hash = hash_of(problem);
  if (std::shared_ptr<const plan::Plan> known = find_plan(problem, hash)) {
    ++statistics_.plan_hits;
    watch.lap(statistics_.seconds.planning);
    return known;
  }
  const ScheduleInput input(problem);
  watch.lap(statistics_.seconds.planning);
  const batch::Schedule schedule =
      own != nullptr ? own->schedule(input.graph()) : batch::schedule(problem.strategy, input.graph());
  watch.lap(statistics_.seconds.scheduling);
  // Once its runs were forgotten, the newest plan is of no use but for its memory.
  plan::Plan spare;
  if (newest_plan_ != nullptr && newest_plan_.use_count() == 1) spare = std::move(*newest_plan_);
  auto made = std::make_shared<plan::Plan>(plan::make_plan(problem, schedule, std::move(spare)));
  newest_plan_ = offer_plan(problem, hash, made) ? nullptr : made;
  watch.lap(statistics_.seconds.planning);
  return made;
}

}  // namespace espalier::exec
