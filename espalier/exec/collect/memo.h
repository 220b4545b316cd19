/// Finds a node that computes the same as another: op, attributes, inputs and fields are equal; of leaves, the numbers.
///
/// Lookups are found by the row of their table, leaves by a hash of their numbers. Any other node is found among those
/// that use the input of it that is newest: new inputs have few users, and most of them none, so that little is
/// compared. Where an input has many users after all, a hash table takes over.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/exec/row_index.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class Memo {
 public:
  Memo(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table) {}

  /// The node that was added with equal content, or `node`, which is added then. An entry that `usable` refuses is
  /// replaced.
  template <class Usable>
  NodeId find_or_add(NodeId node, const Usable& usable) {
    std::int32_t& entry = entry_of(node);
    if (entry >= 0 && usable(NodeId{entry})) return NodeId{entry};
    entry = index_of(node);
    return node;
  }
  void clear();

 private:
  static constexpr std::uint8_t kMostInChain = 8;

  struct Key {
    std::uint64_t hash;
    NodeId node;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key.hash); }
  };
  struct Equal {
    const Memo* memo;
    bool operator()(const Key& a, const Key& b) const { return a.hash == b.hash && memo->equal(a.node, b.node); }
  };

  /// The place of the node with the content of `node`; -1 there if there is none.
  std::int32_t& entry_of(NodeId node);
  std::int32_t& entry_of_lookup(NodeId node);
  bool equal(NodeId a, NodeId b) const;
  std::uint64_t hash_of(NodeId node) const;
  const std::byte* data_of(NodeId leaf) const;

  const Graph& graph_;
  const NodeTable& table_;
  std::vector<RowIndex> lookups_;  // by signature: the node that looks up a row
  // Users of a node, as a list: the first by node, then the next by user. What is found takes the user's place.
  std::vector<std::int32_t> first_;
  std::vector<std::uint8_t> count_;
  struct User {
    std::int32_t node = -1;
    std::int32_t next = -1;
  };
  std::vector<User> users_;
  std::unordered_map<Key, std::int32_t, Hash, Equal> many_{16, Hash{}, Equal{this}};
};

}  // namespace espalier::exec
