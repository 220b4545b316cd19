/// Finds a node that computes the same as another: op, attributes, inputs and fields are equal.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class Memo {
 public:
  /// The node that was added with equal content, or `node`, which is added then. An entry that `usable` refuses is
  /// replaced.
  template <class Usable>
  NodeId find_or_add(const Graph& graph, const NodeTable& table, NodeId node, const Usable& usable) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const std::uint64_t hash = hash_of(graph, table, node);
    for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.node < 0) {
        slot = {hash, index_of(node)};
        ++count_;
        return node;
      }
      if (slot.hash != hash || !equal(graph, table, NodeId{slot.node}, node)) continue;
      if (usable(NodeId{slot.node})) return NodeId{slot.node};
      slot.node = index_of(node);
      return node;
    }
  }
  void clear() {
    slots_.assign(slots_.size(), Slot{});
    count_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t node = -1;
  };

  static std::uint64_t hash_of(const Graph& graph, const NodeTable& table, NodeId node) {
    SignatureTable::Hash hash;
    hash.add(static_cast<std::uint32_t>(index_of(graph.signature_id(node))));
    for (NodeId input : graph.inputs(node)) hash.add(static_cast<std::uint32_t>(index_of(table.same[at(input)])));
    const auto* bytes = static_cast<const std::byte*>(graph.fields(node));
    const std::int32_t size = graph.signature(node).info->field_bytes;
    for (std::int32_t i = 0; i + 4 <= size; i += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes + i, sizeof(word));
      hash.add(word);
    }
    return hash.value();
  }
  static bool equal(const Graph& graph, const NodeTable& table, NodeId a, NodeId b) {
    if (graph.signature_id(a) != graph.signature_id(b)) return false;
    const std::span<const NodeId> of_a = graph.inputs(a);
    const std::span<const NodeId> of_b = graph.inputs(b);
    if (of_a.size() != of_b.size()) return false;
    for (std::size_t i = 0; i < of_a.size(); ++i)
      if (table.same[at(of_a[i])] != table.same[at(of_b[i])]) return false;
    const auto size = static_cast<std::size_t>(graph.signature(a).info->field_bytes);
    return size == 0 || std::memcmp(graph.fields(a), graph.fields(b), size) == 0;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.node < 0) continue;
      std::size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].node >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // their number is a power of two
  std::size_t count_ = 0;
};

}  // namespace espalier::exec
