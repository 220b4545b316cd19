/// The engine: runs a graph by steps of many nodes, forward and backward.
///
/// A run goes through: collect what is missing (merging equal nodes, leaving views out), schedule it, plan it (or take
/// a known plan), place it in memory, run its steps. backward() goes back through the same steps.
///
/// Thread safety: as its graph's, one thread at a time; the rows of large steps are split over the pool's threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/exec/backward.h"
#include "espalier/exec/collect.h"
#include "espalier/exec/executor.h"
#include "espalier/exec/node_table.h"
#include "espalier/exec/run_memory.h"
#include "espalier/exec/step_views.h"
#include "espalier/exec/stopwatch.h"

namespace espalier::exec {

class Engine final : public Executor {
 public:
  explicit Engine(Graph& graph)
      : graph_(graph), collector_(graph, table_), views_(graph, table_), ledger_(graph, table_) {}

  void clear() override;
  void compute(std::span<const NodeId> nodes) override;
  void finish(std::span<const NodeId> nodes) override;
  void keep(NodeId node) override;
  void differentiate(NodeId loss, const BackwardOptions& options) override;
  const std::byte* value(NodeId node) const override { return table_.address[at(node)]; }
  Statistics statistics() const override { return statistics_; }
  std::string explain() const override;

 private:
  /// Collects what is missing; null if nothing is. Leaves have their values afterwards. `wishes`, if there are any, are
  /// those of the one node that is to be differentiated.
  Work* prepare(std::span<const NodeId> nodes, plan::Lifetime lifetime, const Wishes* wishes = nullptr);
  std::shared_ptr<const plan::Plan> plan_of(plan::Problem& problem);
  /// Of runs that are over: keeps the memory of one for the next.
  void take_memory_of(std::vector<Run>& runs);
  void run(Work& work, std::shared_ptr<const plan::Plan> plan);
  /// What a merged node or a view takes its value from.
  NodeId source_of_alias(NodeId alias) const;
  std::byte* address_of_alias(NodeId alias) const;
  bool drop_further(const Work& work, const Run& run);
  /// After a last run: the outputs move to memory of their own, and the rest is given back.
  void move_outputs(const Work& work, const Run& run);
  void forget_values();
  std::vector<Tensor> go_back(std::span<const Seed> seeds, Wishes wishes);

  // --- the memory budget (budget.cc) ---------------------------------------------------------------------------------

  bool fits(std::int64_t more) const;
  /// What values and gradients of a backward pass take, in bytes, if `plan`, which may be null, is run before it.
  std::int64_t training_bytes(const plan::Plan* plan, const BackwardOptions& options) const;
  [[noreturn]] void refuse(std::string_view what, std::int64_t bytes, std::string_view why) const;
  /// Differentiates instance after instance, as many at a time as fit.
  void differentiate_in_parts(NodeId loss, const BackwardOptions& options, std::int64_t bytes);
  void finish_in_parts(std::span<const NodeId> outputs, std::int64_t bytes);
  /// A wanted node needs a row of its own; where it was computed without one, everything is computed again.
  void set_apart(const BackwardOptions& options);

  Graph& graph_;
  NodeTable table_;
  Collector collector_;
  StepViews views_;
  Ledger ledger_;
  RunMemory memory_;
  std::vector<Run> runs_;
  std::vector<NodeId> parameters_;  // the nodes of those that values were computed from
  Marks marks_;
  Statistics statistics_;
  std::vector<std::size_t> lasting_;  // of the run under way: the nodes whose values outlive it, by their numbers
  std::shared_ptr<plan::Plan> newest_plan_;  // that was made here and is nobody else's; null where there is none
  Run spare_;                                // its lists are the memory of the next run's
  std::vector<Run> finished_;                // runs that cannot be differentiated, for explain()
  Stopwatch since_clear_;
};

}  // namespace espalier::exec
