#include "espalier/exec/run/segments.h"

#include <algorithm>

#include "espalier/base/at.h"

namespace espalier::exec {

std::vector<NodeId> Segment::targets() const {
  std::vector<NodeId> nodes = made;
  for (const Seed& seed : seeds)
    if (std::find(made.begin(), made.end(), seed.node) == made.end()) nodes.push_back(seed.node);
  return nodes;
}

std::vector<Segment> cut(const Graph& graph, std::span<const NodeId> needed, std::span<const Seed> seeds,
                         std::size_t segments) {
  std::vector<NodeId> first;  // of each segment
  for (std::size_t s = 0; s < segments; ++s) {
    std::size_t i = s * needed.size() / segments;
    while (i < needed.size() && graph.signature(needed[i]).info->kind == Kind::kResult) ++i;
    if (i < needed.size() && (first.empty() || needed[i] > first.back())) first.push_back(needed[i]);
  }
  const auto segment_of = [&](NodeId node) {
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), node) - first.begin()) - 1;
  };
  std::vector<Segment> result(first.size());
  for (const Seed& seed : seeds) result[segment_of(seed.node)].seeds.push_back(seed);
  std::vector<std::size_t> read_by(at(graph.size()), 0);  // by node: 1 + the last segment but its own that reads it
  for (NodeId node : needed) {
    const std::size_t own = segment_of(node);
    for (NodeId input : graph.inputs(node)) {
      if (graph.inputs(input).empty()) continue;  // a leaf
      const std::size_t of_input = segment_of(input);
      std::size_t& reader = read_by[at(input)];
      if (of_input == own || reader == own + 1) continue;
      if (reader == 0) result[of_input].made.push_back(input);
      result[own].given.push_back(input);
      reader = own + 1;
    }
  }
  return result;
}

}  // namespace espalier::exec
