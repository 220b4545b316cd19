/// Spans of time of a graph's runs (base/trace.h), as all rooms make them.
#pragma once

#include <cstdint>
#include <string_view>

#include "espalier/base/trace.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// A number for what a graph has recorded since it was made or cleared.
inline std::uint64_t trace_number(const Graph& graph) {
  const Expr any = graph.expr(NodeId{0});
  return (static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(any.slot())) << 16U) ^ any.generation();
}

/// A span of a run, or of one of its steps.
inline TimeSpan span_of(const Graph& graph, Doing doing, std::int64_t run, std::int32_t step = -1,
                        std::int64_t amount = 0) {
  return {.doing = doing, .step = step, .run = run, .graph = trace_number(graph), .amount = amount};
}

}  // namespace espalier::exec
