/// Finds what a run has to compute, and says it in integers: merged nodes and views are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/ancestors.h"
#include "espalier/exec/memo.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"
#include "espalier/plan/problem.h"

namespace espalier::exec {

class Wishes;

/// What is to be done.
struct Work {
  plan::Problem problem;
  std::vector<NodeId> nodes;     // by their numbers in the problem
  std::vector<NodeId> aliases;   // that get an address when the others have theirs; ascending
  std::vector<NodeId> leaves;    // that were met for the first time
  std::vector<NodeId> in_table;  // lookups that are read where their table is; they have no value behind this run
  std::vector<NodeId> further;   // results of cells that are no nodes of the problem

  std::int64_t views = 0;
  std::int64_t merged = 0;
  std::int64_t results = 0;  // of cells, but the first, that are nodes of the problem
};

class Collector {
 public:
  Collector(const Graph& graph, NodeTable& table) : graph_(graph), table_(table), memo_(graph, table) {}

  /// What is missing to have the values of `nodes` or, with Lifetime::kTraining, to differentiate them. Valid until
  /// the next call. `wishes` may say what they depend on; else it is null.
  Work& collect(std::span<const NodeId> nodes, plan::Lifetime lifetime, const Wishes* wishes);

  /// The graph was cleared. What is known of signatures is kept as long as they are.
  void clear() {
    memo_.clear();
    if (graph_.signature_epoch() == signature_epoch_) return;
    signature_epoch_ = graph_.signature_epoch();
    facts_.clear();
    operand_bytes_.clear();
    columns_.clear();
    of_signature_.clear();
  }
  /// Values were freed: merge with none of them.
  void forget_merged() { memo_.clear(); }

  /// Operand i of a node is one tensor for its whole step.
  static bool is_shared_operand(const Graph& graph, NodeId node, std::size_t i) {
    return graph.signature(node).info->by_identity(i) && graph.shared(graph.inputs(node)[i]);
  }

 private:
  /// What all nodes of a signature have in common.
  struct OfSignature {
    static constexpr std::int32_t kAll = -1;

    const OpInfo* info = nullptr;  // null: not known yet
    Kind kind = Kind::kLeaf;
    std::int32_t results = 1;
    std::int32_t operands = 0;  // that a plan looks at: not the parameters behind all others
    bool is_view = false;
    bool reads_row = false;         // a view of one of many rows
    bool is_lookup = false;         // of a parameter's row
    bool takes_apart = false;       // the many rows that it reads may lie anywhere
    bool is_met = false;            // in the search under way
    bool has_result_nodes = false;  // of a cell: all its results are nodes of the problem

    std::span<const NodeId> in_plan(std::span<const NodeId> inputs) const {
      return operands == kAll ? inputs : inputs.first(static_cast<std::size_t>(operands));
    }
  };

  void make_room();
  void find_needed(std::span<const NodeId> nodes);
  void take_reached(const Wishes& wishes);
  void find_pending(std::span<const NodeId> nodes, bool training);
  bool may_read_tables(std::span<const NodeId> nodes);
  /// False where further results had to become nodes of the problem: then once more.
  bool add_pending(bool reads_tables);
  bool set_outputs(std::span<const NodeId> nodes);
  void forget_problem();
  void forget_numbers();
  bool are_free(std::uint32_t further, NodeId node, std::span<const NodeId> operands);
  /// Whether the further results of a cell need no nodes of their own.
  bool has_further(NodeId cell, const OfSignature& of) const;
  /// A further result of this cell is multiplied, or asked for: from here on they are nodes.
  void make_nodes_of_results(NodeId result);
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

  OfSignature& of_signature(NodeId node) {
    const auto id = static_cast<std::size_t>(index_of(graph_.signature_id(node)));
    OfSignature& of = of_signature_[id];
    if (of.info == nullptr) [[unlikely]]
      find_of_signature(of, node);
    return of;
  }
  void find_of_signature(OfSignature& of, NodeId node);

  const Graph& graph_;
  std::uint32_t signature_epoch_ = graph_.signature_epoch();
  NodeTable& table_;
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
  std::vector<OfSignature> of_signature_;  // by signature of the graph
};

}  // namespace espalier::exec
