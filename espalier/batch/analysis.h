/// What strategies derive from a graph: depths, heights, successors, and the counts behind the lower bound.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/batch/graph.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

/// The longest path from a source, in edges.
std::vector<std::int32_t> depths(const Graph& graph);
/// The longest path to a sink, in edges.
std::vector<std::int32_t> heights(const Graph& graph);

/// Who uses each node, once a use: those of node v are list[begin[v]] to list[begin[v + 1] - 1], ascending.
struct Successors {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> list;
};
Successors successors(const Graph& graph);

/// own[v]: the most nodes of v's signature on any path that starts at v. What has run is closed under inputs, so no
/// schedule changes these numbers, and the sum over signatures of the largest own() left bounds the steps left.
struct OwnCounts {
  std::vector<std::int32_t> own;
  std::int64_t bound = 0;
  /// False where a group of signatures that depend on each other was too large to count exactly: own[v] then counts
  /// only nodes that follow each other directly, and the bound is lower than it could be.
  bool exact = true;
};
OwnCounts own_counts(const Graph& graph);

/// Fills in what a schedule says about the bound.
void set_bound(Schedule& schedule, const OwnCounts& own);

}  // namespace espalier::batch
