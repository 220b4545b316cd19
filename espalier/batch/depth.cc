/// Fold's rule (Looks et al. 2017): nodes of one signature at one distance from the sources run together. Simple, and
/// blind to what could wait: the same signature at two depths is two steps.
#include <algorithm>

#include "espalier/batch/strategies.h"

namespace espalier::batch {
namespace {

/// `begin[k]`, where the count of key k stands one further on, becomes the place of the first item of key k.
void add_up(std::vector<std::int32_t>& begin) {
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
}

}  // namespace

std::int32_t find_depths(const Graph& graph, Buffer<std::int32_t>& buffer) {
  std::int32_t* depth = buffer.room(graph.signature.size());
  std::int32_t largest = 0;
  std::int32_t i = graph.size() > 0 ? graph.input_begin[0] : 0;
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    std::int32_t mine = 0;
    for (const std::int32_t end = graph.input_begin[static_cast<std::size_t>(v) + 1]; i < end; ++i)
      mine = std::max(mine, depth[graph.inputs[static_cast<std::size_t>(i)]] + 1);
    depth[v] = mine;
    largest = std::max(largest, mine);
  }
  return largest;
}

/// Sorts by counting: by signature, then by depth.
Schedule schedule_depth(const Graph& graph, Workspace& work) {
  work.analysis.look_at(graph);
  const std::int32_t largest = find_depths(graph, work.depth);
  const std::int32_t* depth = work.depth.data();
  std::vector<std::int32_t>& begin = work.begin;

  std::int32_t* by_signature = work.by_signature.room(graph.signature.size());
  begin.assign(static_cast<std::size_t>(graph.signatures) + 1, 0);
  for (std::size_t s = 0; s < static_cast<std::size_t>(graph.signatures); ++s)
    begin[s + 1] = begin[s] + work.analysis.nodes_of()[s];
  for (std::int32_t v = 0; v < graph.size(); ++v)
    by_signature[begin[static_cast<std::size_t>(graph.signature[static_cast<std::size_t>(v)])]++] = v;

  Schedule result;
  result.order.resize(graph.signature.size());
  begin.assign(static_cast<std::size_t>(largest) + 2, 0);
  for (std::int32_t v = 0; v < graph.size(); ++v) ++begin[static_cast<std::size_t>(depth[v]) + 1];
  add_up(begin);
  for (std::int32_t i = 0; i < graph.size(); ++i)
    result.order[static_cast<std::size_t>(begin[static_cast<std::size_t>(depth[by_signature[i]])]++)] = by_signature[i];

  const auto step_of = [&](std::size_t i) {
    const std::int32_t v = result.order[i];
    return std::pair(depth[v], graph.signature[static_cast<std::size_t>(v)]);
  };
  for (std::size_t i = 1; i <= result.order.size(); ++i)
    if (i == result.order.size() || step_of(i - 1) != step_of(i))
      result.step_begin.push_back(static_cast<std::int32_t>(i));
  work.analysis.set_bound(result);
  return result;
}

}  // namespace espalier::batch
