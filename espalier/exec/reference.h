/// The reference executor: one node at a time, in the order of their ids, forward and backward.
///
/// It computes float32 nodes by the step kernels with steps of one row or, with Execution::kPlain and for float64, by
/// the ops' plain code, whose gradient comes from automatic differentiation. Nothing recurses over nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/exec/ancestors.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// What a graph's nodes were computed to.
struct Values : GraphRuntime {
  struct Wanted {
    NodeId node;
    Tensor gradient;
  };

  std::vector<const std::byte*> value;  // a node's numbers, null while not computed
  std::vector<float*> saved;            // what its forward left for backward
  std::vector<NodeId> parameters;       // the nodes of those that values were computed from
  Arena memory;
  Arena gradient_memory;  // of the backward pass under way
  Marks marks;
  std::vector<Wanted> wanted;  // of the last backward pass

  void clear() override;

  /// Those of `graph`, made when first asked for, with room for all its nodes.
  static Values& of(Graph& graph);
};

/// Refuses (UsageError) a parameter's node whose parameter was changed since: its values would be mixed with older
/// ones.
void require_unchanged(const Graph& graph, NodeId node, const Parameter& parameter);

/// Computes these nodes and all they need, unless done before. Refuses (UsageError) if anything is left to compute and
/// a parameter that it depends on, even through nodes computed before, was changed after it was recorded. The value of
/// a parameter's own node is in the parameter, so it is refused likewise.
void compute(Graph& graph, std::span<const NodeId> nodes);

/// Computes `loss` and adds the gradients of all its parameters to `options.into`, or to those of their models.
void differentiate(Graph& graph, NodeId loss, const BackwardOptions& options);

}  // namespace espalier::exec
