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
    Account& account = accounts_[at(base)];
    account.where = where;
    if (!empty) account.written = kBefore;
    if (!account.is_simple) open_regions(base, empty);
  }
  /// Of a base, or a region of one.
  bool is_open(NodeId node) const { return accounts_[at(node)].where != nullptr; }
  /// Of any node that is open.
  std::byte* where(NodeId node) const { return accounts_[at(node)].where; }

  std::int64_t memory() const { return memory_of(accounts_, first_region_, next_region_, last_region_); }
  /// For each node of a graph, at most.
  static constexpr std::int64_t most_memory_of_node() { return sizeof(Account) + 3 * sizeof(NodeId); }
  /// This node will be asked for soon.
  void fetch(NodeId node) const { __builtin_prefetch(&accounts_[at(node)], 1); }

  /// A new step begins to write gradients.
  void next_step() {
    ++step_;
    repeated_ = false;
    overlapping_ = false;
  }
  /// Claims the gradient of a node for writing by the step at hand. True if nothing is there: the caller must store all
  /// of it, or zero() it and add. False if the caller must add.
  bool claim(NodeId node) {
    Account& account = accounts_[at(node)];
    return account.is_simple ? claim_one(account) : claim_with_regions(node);
  }
  /// Whether some gradient was claimed twice in this step: its rows must not be stored.
  bool repeated() const { return repeated_; }
  /// Whether some gradient was claimed twice in this step, also where it held numbers before: no two threads may add to
  /// rows of this step.
  bool overlapping() const { return overlapping_; }
  void zero(NodeId node);

  /// The gradient of a node is about to be read: what nobody wrote of it is zeroed.
  void complete(NodeId node) {
    Account& account = accounts_[at(node)];
    if (account.is_simple && account.written != 0) return;
    complete_rest(node);
  }
  /// Whether anybody wrote anything of it.
  bool is_written(NodeId node) const;

 private:
  static constexpr NodeId kNoNode{-1};
  static constexpr std::uint32_t kBefore = 1;  // written before the first step

  std::int64_t bytes(NodeId node) const { return graph_.bytes(node); }
  static constexpr std::uint32_t kStepBits = 30;
  /// What is known of a gradient, in one place: whoever asks for one of these asks for the others.
  struct Account {
    std::byte* where;
    std::uint32_t written;  // the step that wrote first, 0 while nobody did; of a split base, ask its regions
    std::uint32_t claimed : kStepBits;  // the step that claimed it last
    std::uint32_t is_simple : 1;        // has no regions and is none
    std::uint32_t is_joined : 1;        // of a base with regions

    void claim(std::uint32_t step) { claimed = step & ((1U << kStepBits) - 1); }
  };
  static_assert(sizeof(Account) == 16, "four to a line of the cache: a pass looks at them in any order");
  bool claim_one(Account& account) {
    overlapping_ |= account.claimed == step_;
    account.claim(step_);
    if (account.written == 0) {
      account.written = step_;
      return true;
    }
    repeated_ |= account.written == step_;
    return false;
  }
  bool claim_one(NodeId node) { return claim_one(accounts_[at(node)]); }
  bool has_regions(NodeId base) const { return !accounts_[at(base)].is_simple && first_region_[at(base)] != kNoNode; }
  bool is_joined(NodeId base) const { return accounts_[at(base)].is_joined; }
  std::uint32_t& written(NodeId node) { return accounts_[at(node)].written; }
  std::uint32_t written(NodeId node) const { return accounts_[at(node)].written; }
  void find_regions();
  void open_regions(NodeId base, bool empty);
  bool claim_with_regions(NodeId node);
  void complete_rest(NodeId node);

  const Graph& graph_;
  const NodeTable& table_;
  std::vector<Account> accounts_;     // by node
  std::vector<NodeId> first_region_;  // by base, in the order of their offsets; empty where there are no regions
  std::vector<NodeId> next_region_;
  std::vector<NodeId> last_region_;  // by base, while they are found
  std::uint32_t step_ = kBefore;
  bool repeated_ = false;
  bool overlapping_ = false;
};

}  // namespace espalier::exec
