/// Parameters that change under a graph: what was computed from the old numbers is not mixed with the new ones.
#pragma once

#include <span>

#include "espalier/exec/ancestors.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// Refuses (UsageError) a parameter's node whose parameter was changed, or destroyed with its Model, since it was
/// recorded. Other nodes pass.
void require_unchanged(const Graph& graph, NodeId node, bool freed = false);

/// Refuses to go on computing `nodes` from values that were computed from numbers which a parameter no longer has.
/// `known` are the parameters' nodes that values were computed from; `freed` says that `nodes` once had their values.
void refuse_mixture(const Graph& graph, std::span<const NodeId> known, std::span<const NodeId> nodes, Marks& marks,
                    bool freed = false);

/// Where the numbers of a leaf are. Refuses a parameter that was changed or destroyed.
const std::byte* leaf_value(const Graph& graph, NodeId leaf);

}  // namespace espalier::exec
