/// What the engine knows about every node of a graph, in columns.
///
/// Words: an *alias* has no row of its own. It is a view (a slice lies inside its input's row) or merged (an equal node
/// is computed in its place). The *base* of a node is the node whose row contains its own: itself for most, the source
/// of a view, the concatenation that a node is written into.
///
/// Invariants:
///  1. A base is the base of itself, and is no alias.
///  2. A node that has a value has an address; one that lost its value keeps an address that may be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/base/bytes.h"
#include "espalier/base/ids.h"
#include "espalier/graph/graph.h"
#include "espalier/plan/plan.h"

namespace espalier::exec {

/// Operand i of a node is one tensor for its whole step.
inline bool is_shared_operand(const Graph& graph, NodeId node, std::size_t i) {
  return graph.signature(node).info->by_identity(i) && graph.shared(graph.inputs(node)[i]);
}

/// What one run computed, for going back through it.
struct Run {
  std::shared_ptr<const plan::Plan> plan;
  std::vector<NodeId> nodes;  // by their numbers in the plan
  std::vector<NodeId> rows;   // in the order of the steps
  std::byte* values = nullptr;
  std::byte* gradients = nullptr;  // during a backward pass
  std::int64_t run_number = 0;     // of all runs since the graph was made or cleared, the first is 0
  std::vector<NodeId> asked;       // the nodes whose values, or the loss whose gradient, it was made for
  bool training = false;           // it was made to be differentiated
  bool is_spent = false;           // backward went through it and overwrote what it had read

  /// Sets `rows` by the plan.
  void order_rows() {
    rows.resize(nodes.size());
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = nodes[static_cast<std::size_t>(plan->order[r])];
  }
  /// Memory of what is known of the run; its values and gradients are beside it.
  std::int64_t memory() const { return memory_of(nodes, rows) + plan->memory(); }
  std::byte* row_of(std::int32_t number) const {
    const auto i = static_cast<std::size_t>(number);
    return values + plan->values.at[static_cast<std::size_t>(plan->piece[i])] + plan->within[i];
  }
  /// Calls f(result, where, lasts) for the further results of all cells, with the places of their rows in `memory`,
  /// which is laid out so, and whether they are still there when the run is over.
  template <class F>
  void for_each_further(const Graph& graph, std::byte* memory, const plan::Layout& layout, const F& f) const {
    for (std::int32_t step = 0; step < plan->steps(); ++step) {
      const std::int32_t piece = plan->further[static_cast<std::size_t>(step)];
      if (piece < 0) continue;
      const bool lasts = plan->further_lasts[static_cast<std::size_t>(step)] != 0;
      std::byte* where = memory + layout.at[static_cast<std::size_t>(piece)];
      const std::span<const NodeId> cells = rows_of(step);
      for (std::int32_t k = 1; k < graph.signature(cells[0]).info->results; ++k)
        for (NodeId cell : cells) {
          const NodeId result{index_of(cell) + k};
          f(result, where, lasts);
          where += graph.bytes(result);
        }
    }
  }
  std::span<const NodeId> rows_of(std::int32_t step) const {
    const auto begin = static_cast<std::size_t>(plan->step_begin[static_cast<std::size_t>(step)]);
    const auto end = static_cast<std::size_t>(plan->step_begin[static_cast<std::size_t>(step) + 1]);
    return std::span<const NodeId>(rows).subspan(begin, end - begin);
  }
};

struct NodeTable {
  static constexpr std::uint8_t kHasValue = 1;
  static constexpr std::uint8_t kKeep = 2;      // asked for by the user
  static constexpr std::uint8_t kMemoable = 4;  // depends on lookups and parameters alone
  static constexpr std::uint8_t kApart = 8;     // has a row of its own: its gradient is wanted by itself
  static constexpr std::uint8_t kMany = 16;     // has many rows, which lie one behind the other and nowhere else
  static constexpr std::uint8_t kInTable = 32;  // looks many up, which are read in its table, where its address is

  static constexpr std::uint8_t kZeros = 64;   // a leaf of the zeros that many share
  static constexpr std::uint8_t kGiven = 128;  // its value comes from an earlier segment: it stands for a leaf

  std::vector<std::byte*> address;
  std::vector<std::uint8_t> flags;
  std::vector<std::int32_t> run;  // the run that backward goes through for it, -1 while there is none
  std::vector<NodeId> same;       // what is computed in its place: itself for all but merged nodes
  std::vector<NodeId> root;       // of a view, the node whose row it is taken from; all others are their own
  std::vector<NodeId> base;
  std::vector<std::int64_t> offset;  // from the beginning of the base's row, in bytes
  std::vector<NodeId> regions;       // the nodes that are not their own base, merged ones left out
  bool any_kept = false;             // some node was asked for by the user

  /// Whether it lies by itself: in no other's row, and merged with none.
  bool is_apart(NodeId node) const { return is_apart(node, /*is_whole=*/false); }
  /// The same for one that would be the whole of another: many rows are no reason then.
  bool is_apart(NodeId node, bool is_whole) const {
    return (flags[at(node)] & (is_whole ? kApart : kApart | kMany)) != 0;
  }
  bool is_wanted(NodeId node) const { return (flags[at(node)] & kApart) != 0; }
  /// Nodes of one signature run together if they are of the same variant.
  static constexpr std::size_t kVariants = 3;
  std::size_t variant(NodeId node) const {
    const std::uint8_t of = flags[at(node)];
    return (of & kMany) != 0 ? 2 : (of & kApart) != 0 ? 1 : 0;
  }
  bool has_value(NodeId node) const { return (flags[at(node)] & kHasValue) != 0; }
  void set_value(NodeId node, std::byte* where) {
    address[at(node)] = where;
    flags[at(node)] |= kHasValue;
  }
  void drop_value(NodeId node) { flags[at(node)] &= static_cast<std::uint8_t>(~(kHasValue | kInTable)); }
  bool is_zeros(NodeId leaf) const { return (flags[at(leaf)] & kZeros) != 0; }
  bool is_given(NodeId node) const { return (flags[at(node)] & kGiven) != 0; }
  bool is_in_table(NodeId node) const { return (flags[at(node)] & kInTable) != 0; }

  std::int64_t memory() const { return memory_of(address, flags, run, same, root, base, offset, regions); }
  /// Room for all nodes of a graph.
  void resize(const Graph& graph) {
    const std::size_t old = same.size();
    const auto n = static_cast<std::size_t>(graph.size());
    if (n == old) return;
    address.resize(n, nullptr);
    flags.resize(n, 0);
    run.resize(n, -1);
    const std::span<const NodeId> themselves = first_nodes(n).subspan(old);
    for (std::vector<NodeId>* each : {&same, &root, &base})
      each->insert(each->end(), themselves.begin(), themselves.end());
    offset.resize(n, 0);
    if (!graph.any_many()) return;
    for (std::size_t i = old; i < n; ++i)
      if (graph.is_many(NodeId{static_cast<std::int32_t>(i)})) flags[i] |= kMany;
  }
  /// The first n nodes of any graph: what is copied from there need not be set to zeros before.
  static std::span<const NodeId> first_nodes(std::size_t n) {
    thread_local std::vector<NodeId> nodes;
    while (nodes.size() < n) nodes.push_back(NodeId{static_cast<std::int32_t>(nodes.size())});
    return std::span<const NodeId>(nodes).first(n);
  }
  void clear() {
    address.clear();
    flags.clear();
    run.clear();
    same.clear();
    root.clear();
    base.clear();
    offset.clear();
    regions.clear();
    any_kept = false;
  }
};

/// Whether the row of a node is made of the rows of its inputs, most of which are written there at once.
inline bool lies_side_by_side(const Graph& graph, const NodeTable& table, NodeId node) {
  return graph.signature(node).side_by_side && !table.is_apart(node);
}

}  // namespace espalier::exec
