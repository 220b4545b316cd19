/// Room exec/collect: what has to run.
///
/// In: a graph, the nodes that are asked for, and the table of what is known of every node. Out: Work, the missing
/// nodes as a plan::Problem of integers, with merged nodes and views left out and listed beside it; and
/// BackwardRequest, which nodes get a gradient. It knows signatures and equality, and nothing of steps, places or
/// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/ancestors.h"
#include "espalier/exec/collect/known_signatures.h"
#include "espalier/exec/collect/memo.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"
#include "espalier/plan/problem.h"

namespace espalier::exec {

class BackwardRequest;

/// What is to be done.
struct Work {
  plan::Problem problem;
  std::vector<NodeId> nodes;      // by their numbers in the problem
  std::vector<NodeId> elsewhere;  // whose rows lie elsewhere (bind/row_source.h), ascending
  std::vector<NodeId> leaves;     // that were met for the first time
  std::vector<NodeId> further;    // results of cells but the first: they are no nodes of the problem

  std::int64_t views = 0;
  std::int64_t merged = 0;
};

class Collector {
 public:
  Collector(const Graph& graph, NodeTable& table, KnownSignatures& known)
      : graph_(graph), table_(table), known_(known), memo_(graph, table) {}

  /// What is missing to have the values of `nodes` or, with Lifetime::kTraining, to differentiate them. Valid until
  /// the next call. `request` may say what they depend on; else it is null.
  Work& collect(std::span<const NodeId> nodes, plan::Lifetime lifetime, const BackwardRequest* request);

  /// The graph was cleared. What is known of signatures is kept as long as they are.
  void clear() {
    memo_.clear();
    if (graph_.signature_epoch() == signature_epoch_) return;
    signature_epoch_ = graph_.signature_epoch();
    facts_.clear();
    operand_bytes_.clear();
    columns_.clear();
  }
  /// Values were freed: merge with none of them.
  void forget_merged() { memo_.clear(); }

  /// Of the problem found last, by their numbers.
  std::span<const NodeId> nodes() const { return work_.nodes; }
  /// Of what is said of nodes, without the memo.
  std::int64_t memory() const {
    return memory_of(work_.nodes, work_.elsewhere, work_.leaves, work_.further, pending_) + work_.problem.memory() +
           marks_.memory() + graph_.size() * static_cast<std::int64_t>(sizeof(number_.front()));
  }

 private:
  void make_room();
  void find_needed(std::span<const NodeId> nodes);
  void take_reached(const BackwardRequest& request);
  void find_pending(std::span<const NodeId> nodes, bool training);
  bool may_read_tables(std::span<const NodeId> nodes);
  void add_pending(bool reads_tables);
  bool needs_no_row(NodeId node, const SignatureFacts& of, bool reads_tables);
  void merge_leaf(NodeId leaf);
  void set_outputs(std::span<const NodeId> nodes);
  void forget_problem();
  bool merge(NodeId node, const OpInfo& info);
  bool outlives_its_rows(NodeId node) const;
  bool is_memoable(NodeId node, const OpInfo& info) const;
  std::int32_t signature_number(NodeId node) {
    const auto id = static_cast<std::size_t>(index_of(graph_.signature_id(node)));
    const std::size_t i = NodeTable::kVariants * id + table_.variant(node);
    if (signature_number_[i] < 0) [[unlikely]]
      number_signature(i, node);
    return signature_number_[i];
  }
  void number_signature(std::size_t signature, NodeId node);
  void find_facts(std::size_t signature, NodeId node);
  void find_blocks(std::size_t signature, NodeId node, plan::Facts& facts);

  const Graph& graph_;
  std::uint32_t signature_epoch_ = graph_.signature_epoch();
  NodeTable& table_;
  KnownSignatures& known_;
  std::vector<std::uint8_t> is_met_;  // by signature, in the search under way
  Work work_;
  Memo memo_;
  Marks marks_;
  Marks asked_;     // by finish(), where there are nodes of many rows
  Marks together_;  // nodes of many rows that must lie one behind the other for those who read them
  std::vector<NodeId> pending_;
  /// Of nodes in the problem under way, by node; -1 for all others. A further result has that of its cell and kFurther.
  std::vector<std::int32_t> number_;
  static constexpr std::int32_t kFurther = 1 << 30;
  // By signature of the graph and variant; found once.
  std::vector<plan::Facts> facts_;
  std::vector<std::vector<std::int64_t>> operand_bytes_;
  std::vector<std::vector<plan::BlockColumn>> columns_;
  std::vector<std::int32_t> signature_number_;  // in the problem under way, by signature; -1 for all others
  std::vector<std::size_t> signatures_;
};

}  // namespace espalier::exec
