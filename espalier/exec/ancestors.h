/// The nodes that others need, without recursion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/bytes.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// Marks on nodes that are all taken off at once, without touching each.
class Marks {
 public:
  void start(std::int32_t nodes) {
    if (++round_ == 0) {
      stamps_.clear();
      round_ = 1;
    }
    stamps_.resize(static_cast<std::size_t>(nodes), 0);
  }
  /// Marks a node; false if it was marked already.
  bool set(NodeId node) {
    std::uint32_t& stamp = stamps_[static_cast<std::size_t>(index_of(node))];
    if (stamp == round_) return false;
    stamp = round_;
    return true;
  }
  /// set() for those who do not ask.
  void put(NodeId node) { stamps_[static_cast<std::size_t>(index_of(node))] = round_; }
  std::int64_t memory() const { return memory_of(stamps_); }
  bool has(NodeId node) const { return stamps_[static_cast<std::size_t>(index_of(node))] == round_; }

 private:
  std::vector<std::uint32_t> stamps_;
  std::uint32_t round_ = 0;
};

/// `nodes` and what they depend on, in ascending order, each once. Where `enters(node)` is false, neither the node nor
/// what it alone depends on is listed.
template <class Enters>
std::vector<NodeId> ancestors(const Graph& graph, std::span<const NodeId> nodes, Marks& marks, const Enters& enters) {
  std::vector<NodeId> found;
  marks.start(graph.size());
  const auto visit = [&](NodeId node) {
    if (enters(node) && marks.set(node)) found.push_back(node);
  };
  for (NodeId node : nodes) visit(node);
  for (std::size_t next = 0; next < found.size(); ++next)  // the list is its own queue
    for (NodeId input : graph.inputs(found[next])) visit(input);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace espalier::exec
