#include "espalier/exec/executor.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/exec/reference/reference.h"
#include "espalier/exec/run/engine.h"
#include "espalier/kernels/simd_limit.h"

namespace espalier::exec {

Executor& Executor::of(Graph& graph) {
  if (graph.is_trace())
    throw CellError(
        fmt::format("cell \"{}\": its function reads a value; a cell is traced, and computes nothing by then",
                    graph.traced_cell()));
  if (graph.runtime() == nullptr) {
    kernels::require_known_simd_limit();
    if (graph.options().execution == Execution::kPlain)
      graph.runtime() = std::make_unique<Reference>(graph);
    else
      graph.runtime() = std::make_unique<Engine>(graph);
  }
  return static_cast<Executor&>(*graph.runtime());
}

void require_scalar_loss(const Graph& graph, NodeId loss) {
  if (graph.elements(loss) != 1)
    throw UsageError(fmt::format("backward: the loss must have one element, and {} has {}\n  {}  {}",
                                 graph.type_text(loss), graph.elements(loss), graph.describe(loss),
                                 graph.source(loss).to_string()));
}

}  // namespace espalier::exec
