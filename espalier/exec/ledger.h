/// Ledger: which gradients hold something already. The first to write a gradient stores, so that memory need not be
/// zeroed before; whoever comes later adds.
///
/// A base whose row has regions (views that are read apart, or nodes that were written apart) is *split* if the regions
/// lie beside each other and cover it: then each region is kept account of by itself. Else it is *joined*: the first to
/// write anything of it zeroes it as a whole, and everybody adds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class Ledger {
 public:
  Ledger(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table) {}

  /// Forgets everything: a new pass begins, over all that was computed so far.
  void start();

  /// Where the gradient of a base is. `empty` is false where it holds numbers already.
  void open(NodeId base, std::byte* where, bool empty = true) {
    where_[at(base)] = where;
    if (empty) return;
    written_[at(base)] = kBefore;
    for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
      written_[at(region)] = kBefore;
  }
  bool is_open(NodeId base) const { return where_[at(base)] != nullptr; }

  /// Of any node whose base is open.
  std::byte* where(NodeId node) const { return where_[at(table_.base[at(node)])] + table_.offset[at(node)]; }

  /// A new step begins to write gradients.
  void next_step() {
    ++step_;
    repeated_ = false;
    overlapping_ = false;
  }
  /// Claims the gradient of a node for writing by the step at hand. True if nothing is there: the caller must store all
  /// of it, or zero() it and add. False if the caller must add.
  bool claim(NodeId node);
  /// Whether some gradient was claimed twice in this step: its rows must not be stored.
  bool repeated() const { return repeated_; }
  /// Whether some gradient was claimed twice in this step, also where it held numbers before: no two threads may add to
  /// rows of this step.
  bool overlapping() const { return overlapping_; }
  void zero(NodeId node);

  /// The gradient of a node is about to be read: what nobody wrote of it is zeroed.
  void complete(NodeId node);
  /// Whether anybody wrote anything of it.
  bool is_written(NodeId node) const;

 private:
  static constexpr NodeId kNoNode{-1};
  static constexpr std::int32_t kBefore = 1;  // written before the first step

  std::int64_t bytes(NodeId node) const {
    const Type& type = graph_.type(node);
    return type.elements * static_cast<std::int64_t>(size_of(type.dtype));
  }
  bool claim_one(NodeId node) {
    overlapping_ |= std::exchange(claimed_[at(node)], step_) == step_;
    std::int32_t& written = written_[at(node)];
    if (written == 0) {
      written = step_;
      return true;
    }
    if (written == step_) repeated_ = true;
    return false;
  }
  bool has_regions(NodeId base) const { return first_region_[at(base)] != kNoNode; }

  const Graph& graph_;
  const NodeTable& table_;
  std::vector<std::byte*> where_;  // by base
  std::vector<std::int32_t>
      written_;  // the step that wrote first, 0 while nobody did; by base or region of a split one
  std::vector<std::int32_t> claimed_;  // likewise, the step that claimed it last
  std::vector<std::uint8_t> joined_;   // by base
  std::vector<NodeId> first_region_;   // by base, in the order of their offsets
  std::vector<NodeId> next_region_;
  std::vector<NodeId> last_region_;  // by base, while they are found
  std::int32_t step_ = kBefore;
  bool repeated_ = false;
  bool overlapping_ = false;
};

}  // namespace espalier::exec
