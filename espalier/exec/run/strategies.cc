/// The runs of a graph, scheduled and planned again by every strategy.
#include "espalier/batch/schedule.h"
#include "espalier/exec/run/engine.h"
#include "espalier/exec/run/schedule_input.h"

namespace espalier::exec {
namespace {

/// Collects the runs of a graph once more, in a table of its own.
class Again {
 public:
  Again(const Graph& graph, const NodeTable& table) : known_(graph), collector_(graph, table_, known_) {
    constexpr auto kAsked = static_cast<std::uint8_t>(NodeTable::kKeep | NodeTable::kApart);
    table_.resize(graph);
    table_.any_kept = table.any_kept;
    for (std::size_t i = 0; i < table.flags.size(); ++i)
      table_.flags[i] = static_cast<std::uint8_t>(table_.flags[i] | (table.flags[i] & kAsked));
  }

  /// Its problem; null if it was another one, since values were given up and computed again.
  plan::Problem* problem_of(const Run& run, bool finish) {
    const plan::Lifetime lifetime = run.training ? plan::Lifetime::kTraining
                                    : finish     ? plan::Lifetime::kFinish
                                                 : plan::Lifetime::kAll;
    Work& work = collector_.collect(run.asked, lifetime, nullptr);
    if (work.nodes != run.nodes) return nullptr;
    for (const std::vector<NodeId>* list : {&work.nodes, &work.elsewhere, &work.further, &work.leaves})
      for (const NodeId node : *list) table_.set_value(node, nullptr);
    for (const NodeId node : work.nodes) table_.run[at(node)] = 0;
    return &work.problem;
  }

 private:
  NodeTable table_;
  KnownSignatures known_;
  Collector collector_;
};

/// What bringing the operands of its steps side by side takes: rows of products, as the plan counts them, and
/// operands of concatenations that were not written in place.
std::int64_t copied_bytes(const plan::Problem& problem, const plan::Plan& plan) {
  std::int64_t copied = plan.copied_bytes;
  for (std::int32_t v = 0; v < problem.size(); ++v) {
    const auto signature = at(problem.signature[at(v)]);
    if (!problem.facts[signature].side_by_side) continue;
    std::int64_t to = plan.within[at(v)];
    for (std::int32_t p = problem.input_begin[at(v)]; p < problem.input_begin[at(v) + 1]; ++p) {
      const std::int32_t u = problem.inputs[at(p)];
      const std::int64_t bytes = problem.operand_bytes[signature][at(p - problem.input_begin[at(v)])];
      const bool is_there =
          u >= 0 && problem.is_part[at(p)] == 0 && plan.inside[at(u)] == v && plan.within[at(u)] == to;
      if (!is_there) copied += bytes;
      to += bytes;
    }
  }
  return copied;
}

}  // namespace

std::vector<StrategyCounts> Engine::compare_strategies() const {
  std::vector<StrategyCounts> all;
  for (const Strategy strategy : kAllStrategies) all.push_back({.strategy = strategy, .copied = 0});
  Again again(graph_, table_);
  bool is_known = statistics_.parts == 0;
  const auto add = [&](const Run& run, bool finish) {
    plan::Problem* const problem = is_known ? again.problem_of(run, finish) : nullptr;
    is_known = is_known && problem != nullptr;
    if (!is_known) return;
    const ScheduleInput input(*problem);
    for (StrategyCounts& counts : all) {
      problem->strategy = counts.strategy;
      const batch::Schedule schedule = batch::schedule(counts.strategy, input.graph());
      counts.steps += schedule.steps();
      counts.bound += schedule.bound;
      counts.bound_is_exact = counts.bound_is_exact && schedule.bound_is_exact;
      counts.nodes += problem->size();
      counts.copied += copied_bytes(*problem, plan::make_plan(*problem, schedule));
    }
  };
  std::size_t f = 0;
  for (const Run& run : runs_) {
    for (; f < finished_.size() && finished_[f].run_number < run.run_number; ++f) add(finished_[f], true);
    add(run, false);
  }
  for (; f < finished_.size(); ++f) add(finished_[f], true);
  return is_known ? all : std::vector<StrategyCounts>();
}

}  // namespace espalier::exec
