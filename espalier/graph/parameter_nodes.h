/// The node of each parameter that a graph has recorded, and of what was derived from parameters: an open-addressed
/// table by uid. Each also has a number, which stays the same when the graph is cleared: signatures name it by that.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/base/ids.h"

namespace espalier {

class ParameterNodes {
 public:
  static constexpr SignatureId kNoSignature{-1};

  /// What is known of a parameter, also of one whose node was forgotten when the graph was cleared.
  struct Known {
    std::uint64_t uid = 0;  // 0: nothing; uids start at 1
    TypeId type{};
    SignatureId signature = kNoSignature;
    std::int32_t number = -1;
    std::int32_t node = -1;
    std::uint64_t epoch = 0;  // that the node is of; 0: none

    /// Whether all is known but the node.
    bool was_recorded() const { return uid != 0 && signature != kNoSignature; }
  };
  /// Valid until another is added.
  Known& look_up(std::uint64_t uid) { return *place_of(uid); }
  /// The node, or -1.
  std::int32_t node_of(const Known& known) const { return known.epoch == epoch_ ? known.node : -1; }
  std::int32_t find(std::uint64_t uid) const { return node_of(*place_of(uid)); }

  /// Gives it a node.
  void add_again(Known& known, NodeId node) {
    known.node = index_of(node);
    known.epoch = epoch_;
    recorded_.push_back(known.uid);
  }

  /// Adds one that has no node; returns its number, from 0. One whose type has changed gets another. A parameter has a
  /// signature, which is that of its type.
  std::int32_t add(std::uint64_t uid, NodeId node, TypeId type, SignatureId signature = kNoSignature) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Known& known = *place_of(uid);
    if (known.uid == 0) ++used_;
    if (known.uid == 0 || known.type != type) known.number = numbers_++;
    known.uid = uid;
    known.type = type;
    known.signature = signature;
    add_again(known, node);
    return known.number;
  }

  /// The nodes there are, of parameters and of what was derived, in the order in which they were recorded.
  template <class F>
  void for_each_node(const F& f) const {
    for (const std::uint64_t uid : recorded_) f(NodeId{find(uid)});
  }
  /// The uid of a node that has one, else 0.
  std::uint64_t uid_of(NodeId node) const {
    for (const std::uint64_t uid : recorded_)
      if (find(uid) == index_of(node)) return uid;
    return 0;
  }

  /// Forgets the nodes from `size` on: they were recorded for an operation that was refused, and their signatures with
  /// it.
  void truncate(std::int32_t size) {
    for (; !recorded_.empty() && find(recorded_.back()) >= size; recorded_.pop_back()) {
      Known& known = *place_of(recorded_.back());
      known.epoch = 0;
      known.signature = kNoSignature;
    }
  }
  /// Forgets all nodes, and no number.
  void forget_nodes() {
    recorded_.clear();
    ++epoch_;
  }
  /// How many numbers were given.
  std::int32_t numbers() const { return numbers_; }
  void clear() { *this = ParameterNodes(); }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  /// Where it is, or would be.
  const Known* place_of(std::uint64_t uid) const {
    std::size_t at = uid & mask();
    while (slots_[at].uid != 0 && slots_[at].uid != uid) at = (at + 1) & mask();
    return &slots_[at];
  }
  Known* place_of(std::uint64_t uid) { return const_cast<Known*>(std::as_const(*this).place_of(uid)); }
  void grow() {
    std::vector<Known> old(2 * slots_.size());
    old.swap(slots_);
    for (const Known& known : old)
      if (known.uid != 0) *place_of(known.uid) = known;
  }

  std::vector<Known> slots_ = std::vector<Known>(32);
  std::size_t used_ = 0;
  std::int32_t numbers_ = 0;
  std::vector<std::uint64_t> recorded_;  // uids that have a node, in the order of these
  std::uint64_t epoch_ = 1;
};

}  // namespace espalier
