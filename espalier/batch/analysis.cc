#include "espalier/batch/analysis.h"

#include <algorithm>

#include "espalier/batch/components.h"

namespace espalier::batch {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// The largest group of signatures that is counted exactly: a counter a signature of the group and node.
constexpr std::int32_t kMostCounters = 64;

}  // namespace

std::vector<std::int32_t> depths(const Graph& graph) {
  std::vector<std::int32_t> depth(at(graph.size()), 0);
  for (std::int32_t v = 0; v < graph.size(); ++v)
    for (std::int32_t input : graph.inputs_of(v)) depth[at(v)] = std::max(depth[at(v)], depth[at(input)] + 1);
  return depth;
}

Successors successors(const Graph& graph) {
  Successors result;
  result.begin.assign(at(graph.size()) + 1, 0);
  for (std::int32_t input : graph.inputs) ++result.begin[at(input) + 1];
  for (std::int32_t v = 0; v < graph.size(); ++v) result.begin[at(v) + 1] += result.begin[at(v)];
  result.list.resize(graph.inputs.size());
  std::vector<std::int32_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::int32_t v = 0; v < graph.size(); ++v)
    for (std::int32_t input : graph.inputs_of(v)) result.list[at(next[at(input)]++)] = v;
  return result;
}

namespace {

/// own() where every signature is a group by itself, or its group is too large: counted along direct uses.
void count_direct(const Graph& graph, Paths& paths) {
  for (std::int32_t v = graph.size() - 1; v >= 0; --v) {
    const std::int32_t signature = graph.signature[at(v)];
    const std::int32_t height = paths.height[at(v)] + 1;
    const std::int32_t own = paths.own[at(v)] + 1;
    for (std::int32_t input : graph.inputs_of(v)) {
      paths.height[at(input)] = std::max(paths.height[at(input)], height);
      if (graph.signature[at(input)] == signature) paths.own[at(input)] = std::max(paths.own[at(input)], own);
    }
  }
}

/// own() of the nodes in groups of several signatures: a counter for each of them and node. A path that leaves a group
/// never comes back to it.
void count_in_groups(const Graph& graph, const Components& groups, Paths& paths) {
  std::vector<std::int64_t> counters_at(at(graph.size()), -1);
  std::int64_t size = 0;
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    const std::int32_t members = groups.size_of(graph.signature[at(v)]);
    if (members < 2) continue;
    if (members > kMostCounters) {
      paths.exact = false;
      continue;
    }
    counters_at[at(v)] = size;
    size += members;
  }
  std::vector<std::int32_t> counters(static_cast<std::size_t>(size), 0);
  for (std::int32_t v = graph.size() - 1; v >= 0; --v) {
    if (counters_at[at(v)] < 0) continue;
    const std::int32_t signature = graph.signature[at(v)];
    std::int32_t* mine = counters.data() + counters_at[at(v)];
    paths.own[at(v)] = ++mine[groups.place[at(signature)]];
    for (std::int32_t input : graph.inputs_of(v)) {
      if (groups.component[at(graph.signature[at(input)])] != groups.component[at(signature)]) continue;
      std::int32_t* theirs = counters.data() + counters_at[at(input)];
      for (std::int32_t k = 0; k < groups.size_of(signature); ++k) theirs[k] = std::max(theirs[k], mine[k]);
    }
  }
}

}  // namespace

Paths paths_of(const Graph& graph) {
  Paths paths;
  paths.height.assign(at(graph.size()), 0);
  paths.own.assign(at(graph.size()), 1);
  count_direct(graph, paths);
  const Components groups = signature_components(graph);
  if (std::any_of(groups.size.begin(), groups.size.end(), [](std::int32_t members) { return members > 1; }))
    count_in_groups(graph, groups, paths);

  std::vector<std::int32_t> largest(at(graph.signatures), 0);
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    std::int32_t& most = largest[at(graph.signature[at(v)])];
    most = std::max(most, paths.own[at(v)]);
  }
  for (std::int32_t most : largest) paths.bound += most;
  return paths;
}

}  // namespace espalier::batch
