/// Room exec/pass: forward and backward through the steps of runs.
///
/// In: runs, whose steps exec/bind shows as rows, and for the way back a BackwardRequest. Out: values in the memory of
/// the run, gradients in Gradients objects or wanted tensors. It calls the ops' kernels; it decides neither what runs
/// nor where a value lies.
///
/// This header goes back: it gives every parameter its gradient. forward.h goes forward.
#pragma once

#include <span>
#include <vector>

#include "espalier/exec/bind/bound_steps.h"
#include "espalier/exec/bind/ledger.h"
#include "espalier/exec/collect/backward_request.h"
#include "espalier/exec/node_table.h"
#include "espalier/exec/run_memory.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// The gradients of the wanted nodes, in the order of the options. `beside` is the memory that the graph has in use
/// beside `memory`, for Statistics::peak_bytes.
std::vector<Tensor> run_backward(const Graph& graph, const NodeTable& table, std::span<Run> runs,
                                 std::span<const Seed> seeds, const BackwardRequest& request, RunMemory& memory,
                                 BoundSteps& steps, Ledger& ledger, Statistics& statistics, std::int64_t beside);

/// Where the gradients of the rows of a plan are, in a pass through so many runs. Memory can be used again only if
/// nothing is read at the end and nothing was written before the first step.
inline const plan::Layout& gradient_layout(const plan::Plan& plan, std::size_t runs, bool any_wanted) {
  return runs == 1 && !any_wanted ? plan.gradients : plan.all_gradients;
}

}  // namespace espalier::exec
