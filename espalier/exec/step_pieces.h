/// Steps that run a few rows at a time (GraphOptions::fusing).
#pragma once

#include <algorithm>
#include <cstdint>

#include "espalier/base/threads.h"
#include "espalier/exec/step_view.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// Whether a step of so many rows may be divided: with few more than a piece has, there is nothing to divide.
inline bool has_pieces(const Graph& graph, std::int64_t rows) {
  const std::int64_t few = graph.options().fusing.rows;
  return few > 0 && 2 * rows >= 3 * few;
}

/// Whether what a step of `rows` nodes like this one reads and writes is more than stays in the cache. Where memory is
/// used again, more of it does.
inline bool is_worth_dividing(const Graph& graph, NodeId node, std::int64_t rows, bool uses_memory_again) {
  constexpr std::int64_t kAgain = 4;
  std::int64_t elements = graph.type(node).elements;
  for (const NodeId input : graph.inputs(node))
    if (!graph.shared(input)) elements += graph.type(input).elements;
  return rows * elements * static_cast<std::int64_t>(sizeof(float)) >=
         graph.options().fusing.least_bytes * (uses_memory_again ? kAgain : 1);
}

/// Whether the kernels of a node's op compute row by row, one a node. Cells divide themselves.
inline bool runs_by_rows(const Graph& graph, NodeId node) {
  const OpInfo& info = *graph.signature(node).info;
  return info.kind != Kind::kCell && info.kind != Kind::kResult && !info.takes_whole && !info.is_ragged() &&
         !graph.is_many(node) && graph.type(node).dtype == DType::kFloat32;
}

/// Calls f(begin, end) for the pieces of a step, which are of about the same size, in the threads of the pool. `width`
/// is that of a result.
template <class F>
void for_each_piece_of_step(const Graph& graph, const StepIn& in, std::int64_t width, const F& f) {
  const std::int64_t few = graph.options().fusing.rows;
  const std::int64_t pieces = (in.rows + few - 1) / few;
  const std::int64_t size = (in.rows + pieces - 1) / pieces;
  parallel_for(pieces, (row_grain(in, width) + size - 1) / size, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece) f(piece * size, std::min(in.rows, (piece + 1) * size));
  });
}

}  // namespace espalier::exec
