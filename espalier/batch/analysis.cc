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

std::vector<std::int32_t> heights(const Graph& graph) {
  std::vector<std::int32_t> height(at(graph.size()), 0);
  for (std::int32_t v = graph.size() - 1; v >= 0; --v)
    for (std::int32_t input : graph.inputs_of(v)) height[at(input)] = std::max(height[at(input)], height[at(v)] + 1);
  return height;
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

OwnCounts own_counts(const Graph& graph) {
  const Components groups = signature_components(graph);
  OwnCounts result;
  result.own.assign(at(graph.size()), 1);

  // Counters for the nodes of groups of several signatures; a path that leaves such a group never comes back.
  std::vector<std::int64_t> counters_at(at(graph.size()), -1);
  std::int64_t counters_size = 0;
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    const std::int32_t members = groups.size_of(graph.signature[at(v)]);
    if (members < 2) continue;
    if (members > kMostCounters) {
      result.exact = false;
      continue;
    }
    counters_at[at(v)] = counters_size;
    counters_size += members;
  }
  std::vector<std::int32_t> counters(static_cast<std::size_t>(counters_size), 0);

  for (std::int32_t v = graph.size() - 1; v >= 0; --v) {
    const std::int32_t signature = graph.signature[at(v)];
    const std::int32_t group = groups.component[at(signature)];
    const std::int64_t mine = counters_at[at(v)];
    std::int32_t* counts = mine < 0 ? nullptr : counters.data() + mine;
    if (counts != nullptr) result.own[at(v)] = ++counts[groups.place[at(signature)]];
    for (std::int32_t input : graph.inputs_of(v)) {
      const std::int32_t other = graph.signature[at(input)];
      if (counts != nullptr) {
        if (groups.component[at(other)] != group) continue;
        std::int32_t* theirs = counters.data() + counters_at[at(input)];
        for (std::int32_t k = 0; k < groups.size_of(signature); ++k) theirs[k] = std::max(theirs[k], counts[k]);
      } else if (other == signature) {
        result.own[at(input)] = std::max(result.own[at(input)], result.own[at(v)] + 1);
      }
    }
  }

  std::vector<std::int32_t> largest(at(graph.signatures), 0);
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    std::int32_t& most = largest[at(graph.signature[at(v)])];
    most = std::max(most, result.own[at(v)]);
  }
  for (std::int32_t most : largest) result.bound += most;
  return result;
}

}  // namespace espalier::batch
