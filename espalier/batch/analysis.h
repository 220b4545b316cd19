/// What strategies derive from a graph: depths, heights, successors, and the counts behind the lower bound.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/batch/graph.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

/// The longest path from a source, in edges.
std::vector<std::int32_t> depths(const Graph& graph);
/// Who uses each node, once a use: those of node v are list[begin[v]] to list[begin[v + 1] - 1], ascending.
struct Successors {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> list;
};
Successors successors(const Graph& graph);

/// What the paths that start at each node are like.
///
/// own[v] is the most nodes of v's signature on any of them. What has run is closed under inputs, so no schedule
/// changes these numbers, and the sum over signatures of the largest own() left bounds the steps left.
struct Paths {
  std::vector<std::int32_t> height;  // the longest, to a sink, in edges
  std::vector<std::int32_t> own;
  std::int64_t bound = 0;
  /// False where a group of signatures that depend on each other was too large to count exactly: own[v] then counts
  /// only nodes that follow each other directly, and the bound is lower than it could be.
  bool exact = true;
};
Paths paths_of(const Graph& graph);

/// Fills in what a schedule says about the bound.
void set_bound(Schedule& schedule, const Paths& paths);

}  // namespace espalier::batch
