/// Runs as plain data (exec/batches.h).
#pragma once

#include <span>

#include "espalier/exec/batches.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

Batches read_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs, std::span<const Run> finished,
                  const Statistics& statistics);

}  // namespace espalier::exec
