/// Executor: what computes a graph and keeps its values. A graph has one, made when first asked for something.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/exec/batches.h"
#include "espalier/exec/explain_plan.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class Executor : public GraphRuntime {
 public:
  /// Computes these nodes and all they need, unless done before. Refuses (UsageError) if anything is left to compute
  /// and a parameter that it depends on, even through nodes computed before, was changed after it was recorded. The
  /// value of a parameter's own node is in the parameter, so it is refused likewise.
  virtual void compute(std::span<const NodeId> nodes) = 0;
  /// The same, as the last run of the graph: everything else may be freed.
  virtual void finish(std::span<const NodeId> nodes) = 0;
  /// The value of this node is not to be freed.
  virtual void keep(NodeId node) = 0;
  /// Computes `loss` and adds the gradients of all its parameters to `options.into`, or to those of their models.
  virtual void differentiate(NodeId loss, const BackwardOptions& options) = 0;
  /// The numbers of a node that was computed.
  virtual const std::byte* value(NodeId node) const = 0;
  /// Whether value() gives them.
  virtual bool has_value(NodeId node) const = 0;
  virtual Statistics statistics() const = 0;
  virtual std::string explain() const = 0;
  virtual Batches batches() const = 0;
  virtual std::vector<StrategyCounts> compare_strategies() const = 0;
  /// explain_plan() of these nodes, while nothing was computed yet.
  virtual std::string explain_plan(std::span<const NodeId> nodes, RunKind kind) = 0;

  /// Of the last differentiate(); null if it was not wanted there.
  const Tensor* wanted(NodeId node) const {
    for (const Wanted& entry : wanted_)
      if (entry.node == node) return &entry.gradient;
    return nullptr;
  }

  /// The executor of `graph`, by its options.
  static Executor& of(Graph& graph);

  /// When a Trace is on: the time since the last call in which nodes were recorded.
  double take_recording(double seconds) {
    const double since = seconds < recording_told_ ? seconds : seconds - recording_told_;
    recording_told_ = seconds;
    return since;
  }

 protected:
  void forget_wanted() { wanted_.clear(); }
  void add_wanted(NodeId node, Tensor gradient) { wanted_.push_back({node, std::move(gradient)}); }

 private:
  struct Wanted {
    NodeId node;
    Tensor gradient;
  };
  std::vector<Wanted> wanted_;
  double recording_told_ = 0;  // of Statistics::Seconds::recording
};

/// Refuses (UsageError) to differentiate a node of more than one element.
void require_scalar_loss(const Graph& graph, NodeId loss);

}  // namespace espalier::exec
