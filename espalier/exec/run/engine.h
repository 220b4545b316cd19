/// Room exec/run: the engine, which runs a graph by steps of many nodes, forward and backward.
///
/// In: nodes that are asked for, or a loss. Out: their values, gradients, statistics. It leads through the other rooms,
/// and is the only one that changes the table of nodes, counts memory, and keeps runs and plans.
///
/// A run goes through: collect what is missing (merging equal nodes, leaving views out), schedule it, plan it (or take
/// a known plan), place it in memory, run its steps. backward() goes back through the same steps.
///
/// Thread safety: as its graph's, one thread at a time; the rows of large steps are split over the pool's threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/exec/bind/bound_steps.h"
#include "espalier/exec/collect/collector.h"
#include "espalier/exec/executor.h"
#include "espalier/exec/explain/read_runs.h"
#include "espalier/exec/explain/report.h"
#include "espalier/exec/node_table.h"
#include "espalier/exec/pass/backward.h"
#include "espalier/exec/run/segments.h"
#include "espalier/exec/run_memory.h"
#include "espalier/exec/stopwatch.h"

namespace espalier::exec {

/// A node of one instance and its weight in the loss.
struct Term {
  InstanceId instance;
  Seed seed;
};

/// What is differentiated at a time: some terms, in one segment if all their values may stay.
struct Part {
  std::span<const Term> terms;
  std::vector<Segment> segments;
};

class Engine final : public Executor {
 public:
  explicit Engine(Graph& graph)
      : graph_(graph),
        known_(graph),
        collector_(graph, table_, known_),
        steps_(graph, table_),
        ledger_(graph, table_) {}

  void clear() override;
  void compute(std::span<const NodeId> nodes) override;
  void finish(std::span<const NodeId> nodes) override;
  void keep(NodeId node) override;
  void differentiate(NodeId loss, const BackwardOptions& options) override;
  const std::byte* value(NodeId node) const override { return table_.address[at(node)]; }
  bool has_value(NodeId node) const override { return at(node) < table_.flags.size() && table_.has_value(node); }
  Statistics statistics() const override { return statistics_; }
  std::string explain_plan(std::span<const NodeId> nodes, RunKind kind) override;
  Batches batches() const override;
  std::vector<StrategyCounts> compare_strategies() const override;
  std::string explain() const override { return explain_runs(graph_, table_, runs_, finished_, statistics_); }

 private:
  /// Collects what is missing; null if nothing is. Leaves have their values afterwards. `request`, if there are any,
  /// are those of the one node that is to be differentiated.
  Work* prepare(std::span<const NodeId> nodes, plan::Lifetime lifetime, const BackwardRequest* request = nullptr);
  std::shared_ptr<const plan::Plan> plan_of(plan::Problem& problem);
  /// Of runs that are over: keeps the memory of one for the next.
  void take_memory_of(std::vector<Run>& runs);
  void run(Work& work, std::shared_ptr<const plan::Plan> plan);
  // Parts of run(), in this order:
  Run open_run(const Work& work, std::shared_ptr<const plan::Plan> plan);
  /// Gives every node of the run its address.
  void place_rows(const Work& work, const Run& run);
  void compute_rows(const Work& work, const Run& run);
  /// For backward: which run computed a node, and whose rows contain its own.
  void note_run(const Work& work, const plan::Plan& plan);
  /// Nodes whose memory was used again, or is about to be, have no value any more.
  void drop_values(const Work& work, const Run& run);
  void count(const Work& work, const plan::Plan& plan);
  /// After a last run: the outputs move to memory of their own, and the rest is given back.
  void move_outputs(const Work& work, const Run& run);
  void forget_values();
  /// Tells a Trace how many bytes are in use now, and `more`.
  void trace_memory(std::int64_t more) const;
  std::int64_t gradient_bytes() const;
  std::vector<Tensor> go_back(std::span<const Seed> seeds, BackwardRequest request);

  // --- the memory budget (budget.cc) ---------------------------------------------------------------------------------

  /// What the graph has in use beside the values and gradients of nodes.
  std::int64_t memory_beside() const;
  bool fits(std::int64_t more) const;
  /// What running a plan takes, in bytes, in addition to what is in use: at most, if it need not be differentiated.
  std::int64_t run_bytes(const plan::Plan& plan) const;
  /// The same for a backward pass, if `plan`, which may be null, is run before it.
  std::int64_t training_bytes(const plan::Plan* plan, const BackwardOptions& options) const;
  /// What a backward pass notes of the steps of a plan, at most.
  std::int64_t pass_bytes(const plan::Plan& plan, std::span<const NodeId> nodes) const;
  [[noreturn]] void refuse(std::string_view what, std::int64_t bytes, std::string_view why) const;
  /// Differentiates instance after instance, as many at a time as fit. A part that does not fit by itself goes in
  /// segments.
  void differentiate_in_parts(NodeId loss, const BackwardOptions& options, std::int64_t bytes);
  std::vector<Part> parts_that_fit(std::span<const Term> terms, const BackwardOptions& options,
                                   const std::string& why_not_smaller);
  void finish_in_parts(std::span<const NodeId> outputs, std::int64_t bytes);

  // --- values that are computed again (recompute.cc) -----------------------------------------------------------------

  /// As few segments as fit; empty if none do.
  std::vector<Segment> segments_that_fit(std::span<const Seed> seeds, const BackwardOptions& options);
  /// What they take in addition to what is in use, at most.
  std::int64_t bytes_of(std::span<const Segment> segments, const BackwardOptions& options);
  /// Goes forward through all, keeping what others need, then back, computing each once more. Calls `read` when the
  /// values of a segment are there.
  void differentiate_segments(std::span<const Segment> segments, const BackwardOptions& options,
                              const std::function<void(const Segment&)>& read);
  void give_values(const Segment& segment, const Checkpoints& checkpoints);
  void compute_checkpoints(const Segment& segment, Checkpoints& checkpoints);
  /// A wanted node needs a row of its own; where it was computed without one, everything is computed again.
  void set_apart(const BackwardOptions& options);

  Graph& graph_;
  NodeTable table_;
  KnownSignatures known_;
  Collector collector_;
  BoundSteps steps_;
  Ledger ledger_;
  RunMemory memory_;
  std::vector<Run> runs_;
  std::vector<NodeId> parameters_;  // the nodes of those that values were computed from
  Marks marks_;
  Statistics statistics_;
  // Of the run under way: the nodes whose values outlive it, by their numbers, and those that move.
  std::vector<std::size_t> lasting_;
  std::vector<NodeId> moved_;
  std::vector<NodeId> asked_;                // what the run was asked for
  std::shared_ptr<plan::Plan> newest_plan_;  // that was made here and is nobody else's; null where there is none
  Run spare_;                                // its lists are the memory of the next run's
  std::vector<Run> finished_;                // runs that cannot be differentiated, for explain()
  std::int64_t memory_of_runs_ = 0;
  std::int64_t memory_of_finished_ = 0;
  std::int64_t checkpoint_bytes_ = 0;
};

}  // namespace espalier::exec
