/// Which rows of what a step reads are equal, as far as that is known without looking at them: lookups of the same row
/// of a table, and nodes that are computed once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// Finds, for each row of the first operands of `nodes`, the first of all these rows that is equal, in the form of
/// StepIn::first_equal. Rows whose own gradients are wanted, and those of nodes the gradients of whose results are
/// wanted, are equal to none. False if no row is equal to another, or nothing is to be computed once.
bool find_equal_rows(const Graph& graph, const NodeTable& table, std::span<const NodeId> nodes,
                     std::vector<std::int32_t>& first);

/// Whether a node that has many rows may be one whose rows are looked at there, or that is computed from them.
bool may_have_equal_rows(const Graph& graph, NodeId node);

}  // namespace espalier::exec
