/// The strategies, one file each, and the memory they share.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "espalier/batch/analysis.h"
#include "espalier/batch/graph.h"
#include "espalier/batch/ready.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

/// Why a signature should run next.
struct Claim {
  std::int32_t height = -1;  // the largest of its ready nodes
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
};

/// A claim as it was when it was entered.
struct Entry {
  std::uint64_t rank;  // whether it lowers the bound, then height, then rows
  std::int32_t lowest;
  std::int32_t signature;

  bool operator<(const Entry& other) const { return rank != other.rank ? rank < other.rank : lowest > other.lowest; }
};

/// Memory that is kept from one graph to the next: most of the time of a small graph, and much of that of a large one,
/// would be spent getting it.
struct Workspace {
  Analysis analysis;
  Ready ready;
  // frontier
  std::vector<Claim> claims;
  std::vector<Entry> entries;
  // depth, agenda
  Buffer<std::int32_t> depth;
  Buffer<std::int32_t> by_signature;
  std::vector<std::int32_t> begin;
  std::vector<std::pair<double, std::int32_t>> means;
  std::vector<std::int32_t> ranks;
  std::vector<std::int32_t> agenda;
};

Schedule schedule_none(const Graph& graph, Workspace& work);
Schedule schedule_depth(const Graph& graph, Workspace& work);
Schedule schedule_agenda(const Graph& graph, Workspace& work);
Schedule schedule_frontier(const Graph& graph, Workspace& work);

/// The longest path from a source to each node, in edges; gives the longest of all, 0 for an empty graph.
std::int32_t find_depths(const Graph& graph, Buffer<std::int32_t>& depth);

}  // namespace espalier::batch
