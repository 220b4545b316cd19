/// BoundSteps: the steps of a run seen as kernels want them. What forward finds is kept for a backward pass just behind
/// it, which needs the same of all rows, unless steps are small and many.
///
/// Thread safety: as its graph's, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "espalier/exec/bind/bound_step.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class BoundSteps {
 public:
  /// Whether the views of a training run are kept.
  static bool keeps(const plan::Plan& plan) {
    return plan.steps() <= kMostSteps && std::ssize(plan.order) >= plan.steps() * kLeastRows;
  }

  BoundSteps(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table), any_(graph, table) {}

  /// A run begins.
  void start(const Run& run) {
    const bool pays = run.training && keeps(*run.plan);
    kept_ = pays ? run.values : nullptr;
    while (pays && std::ssize(views_) < run.plan->steps()) views_.emplace_back(graph_, table_);
  }
  /// Time has passed: what was kept points to tables of the graph, which change as it grows.
  void forget() { kept_ = nullptr; }
  /// Of step `step` of the run that began last.
  BoundStep& forward(const Run& run, std::int32_t step, std::span<const NodeId> nodes) {
    BoundStep& view = kept_ == nullptr ? any_ : views_[static_cast<std::size_t>(step)];
    view.open(run, step, nodes);
    return view;
  }
  /// Whether each step of a run has a view of its own, which backward() gives.
  bool keeps(const Run& run) const { return kept_ != nullptr && run.values == kept_; }
  /// Of the views that are kept, if any are.
  std::int64_t memory() const {
    std::int64_t bytes = 0;
    if (kept_ != nullptr)
      for (const BoundStep& view : views_) bytes += static_cast<std::int64_t>(sizeof(view)) + view.memory();
    return bytes;
  }
  /// Of these nodes of a step; as BoundStep::open().
  BoundStep& backward(const Run& run, std::int32_t step, std::span<const NodeId> nodes,
                      std::span<const std::int32_t> numbers) {
    if (numbers.empty() && keeps(run)) return views_[static_cast<std::size_t>(step)];
    any_.open(run, step, nodes, numbers);
    return any_;
  }

 private:
  static constexpr std::int64_t kMostSteps = 1024;
  static constexpr std::int64_t kLeastRows = 4;

  const Graph& graph_;
  const NodeTable& table_;
  BoundStep any_;
  std::deque<BoundStep> views_;  // by step
  const std::byte* kept_ = nullptr;
};

}  // namespace espalier::exec
