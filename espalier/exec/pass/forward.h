/// Runs the steps of a plan.
#pragma once

#include "espalier/exec/bind/bound_steps.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// Computes all nodes of `run`, whose rows have their addresses in `table`. Adds to the statistics what it copied and,
/// if the graph wants that, where the time went.
void run_forward(const Graph& graph, const NodeTable& table, const Run& run, BoundSteps& steps, Statistics& statistics);

}  // namespace espalier::exec
