/// Room exec/reference: the reference twin. In: a graph. Out: values and gradients, as from the engine.
///
/// One node at a time, in the order of their ids, by the ops' plain code; the gradient comes from
/// automatic differentiation of that code. Nothing recurses over nodes.
///
/// It shares no kernel, no plan and no backward code with the engine, so that neither can hide behind the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/exec/ancestors.h"
#include "espalier/exec/executor.h"

namespace espalier::exec {

class Reference final : public Executor {
 public:
  explicit Reference(Graph& graph) : graph_(graph) {}

  void clear() override;
  void compute(std::span<const NodeId> nodes) override;
  void finish(std::span<const NodeId> nodes) override { compute(nodes); }
  void keep(NodeId) override {}
  void differentiate(NodeId loss, const BackwardOptions& options) override;
  const std::byte* value(NodeId node) const override { return values_[static_cast<std::size_t>(index_of(node))]; }
  bool has_value(NodeId node) const override {
    const auto i = static_cast<std::size_t>(index_of(node));
    return i < values_.size() && values_[i] != nullptr;
  }
  Statistics statistics() const override { return statistics_; }
  std::string explain() const override;
  Batches batches() const override {
    Batches batches;
    batches.statistics = statistics_;
    batches.is_reference = true;
    return batches;
  }
  std::vector<StrategyCounts> compare_strategies() const override { return {}; }
  std::string explain_plan(std::span<const NodeId> nodes, RunKind kind) override;

 private:
  class Pass;
  void run_node(NodeId node);

  Graph& graph_;
  std::vector<const std::byte*> values_;  // a node's numbers, null while not computed
  std::vector<NodeId> parameters_;        // the nodes of those that values were computed from
  Arena memory_;
  Arena gradient_memory_;  // of the backward pass under way
  Marks marks_;
  Statistics statistics_;
};

}  // namespace espalier::exec
