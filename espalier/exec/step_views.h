/// StepViews: the steps of a run seen as kernels want them. What forward finds is kept for a backward pass just behind
/// it, which needs the same of all rows, unless steps are small and many.
///
/// Thread safety: as its graph's, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/exec/step_view.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class StepViews {
 public:
  StepViews(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table), any_(graph, table) {}

  /// A run begins.
  void start(const Run& run) {
    const std::int64_t steps = run.plan->steps();
    const bool pays = run.training && steps <= kMostSteps && std::ssize(run.nodes) >= steps * kLeastRows;
    kept_ = pays ? run.values : nullptr;
    while (pays && std::ssize(views_) < steps) views_.emplace_back(graph_, table_);
  }
  /// Time has passed: what was kept points to tables of the graph, which change as it grows.
  void forget() { kept_ = nullptr; }
  /// Of step `step` of the run that began last.
  StepView& forward(const Run& run, std::int32_t step, std::span<const NodeId> nodes) {
    StepView& view = kept_ == nullptr ? any_ : views_[static_cast<std::size_t>(step)];
    view.open(run, step, nodes);
    return view;
  }
  /// The same for several steps at once, of which this is the k-th.
  StepView& forward(const Run& run, std::int32_t step, std::span<const NodeId> nodes, std::size_t k) {
    while (at_once_.size() <= k) at_once_.push_back(std::make_unique<StepView>(graph_, table_));
    StepView& view = kept_ == nullptr ? *at_once_[k] : views_[static_cast<std::size_t>(step)];
    view.open(run, step, nodes);
    return view;
  }
  /// From here on the k-th of them is the first of others.
  void begin_with(std::size_t k) { std::swap(at_once_[0], at_once_[k]); }
  /// Whether each step of a run has a view of its own, which backward() gives.
  bool keeps(const Run& run) const { return kept_ != nullptr && run.values == kept_; }
  /// Of these nodes of a step; as StepView::open().
  StepView& backward(const Run& run, std::int32_t step, std::span<const NodeId> nodes,
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
  StepView any_;
  std::vector<std::unique_ptr<StepView>> at_once_;
  std::deque<StepView> views_;  // by step
  const std::byte* kept_ = nullptr;
};

}  // namespace espalier::exec
