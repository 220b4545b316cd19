/// Parameters that change under a graph: what was computed from the old numbers is not mixed with the new ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/ancestors.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// Refuses (UsageError) a parameter's node whose parameter was changed since it was recorded. Other nodes pass.
void require_unchanged(const Graph& graph, NodeId node, bool freed = false);

/// Refuses to go on computing `nodes` from values that were computed from numbers which a parameter no longer has.
/// `known` are the parameters' nodes that values were computed from; `freed` says that `nodes` once had their values.
void refuse_mixture(const Graph& graph, std::span<const NodeId> known, std::span<const NodeId> nodes, Marks& marks,
                    bool freed = false);

/// Where the numbers of a leaf are. Refuses a parameter that was changed.
const std::byte* leaf_value(const Graph& graph, NodeId leaf);

/// What a parameter is used for.
struct ParameterUse {
  static constexpr std::uint8_t kWeight = 1;  // of products: nobody reads it when all steps are differentiated
  static constexpr std::uint8_t kTable = 2;   // rows are looked up: nobody reads it when it is differentiated
  static constexpr std::uint8_t kOther = 4;   // a gradient of shared operands may read it: it stays till all are there
};
/// By node, what each parameter is used for.
void find_parameter_uses(const Graph& graph, std::vector<std::uint8_t>& uses);

}  // namespace espalier::exec
