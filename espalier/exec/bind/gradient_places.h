/// GradientPlaces: where a backward pass puts the gradients of leaves. Those of parameters go to Gradients objects, or
/// are added to the numbers themselves; those of wanted leaves are gathered by themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/exec/bind/ledger.h"
#include "espalier/exec/collect/backward_request.h"
#include "espalier/exec/gradients.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class GradientPlaces {
 public:
  GradientPlaces(const Graph& graph, const NodeTable& table, const BackwardRequest& request, Ledger& ledger)
      : graph_(graph), table_(table), request_(request), ledger_(ledger) {}

  /// Makes sure that the gradient of a node has a place. Leaves get theirs when first met.
  void ensure_open(NodeId node) {
    if (!ledger_.is_open(node)) open(table_.base[at(node)]);
  }
  /// Adds a row to the gradient of a node, or stores it there first.
  void add_row(NodeId to, const std::byte* row);
  /// All steps are done: only shared operands are without their gradients, and nobody reads what is a weight only.
  void end_steps() { is_at_end_ = true; }

  /// The numbers of a table, if the gradients of its rows may be added to them; else null.
  float* table_to_change(NodeId node, const Parameter& table);
  /// Where the gradient of a parameter goes.
  Gradients& gradients_of(const Parameter& parameter);
  /// Memory until the end of the pass.
  std::byte* allocate(std::int64_t bytes) { return memory_.allocate(static_cast<std::size_t>(bytes)); }

  std::int64_t memory() const { return static_cast<std::int64_t>(memory_.bytes_used()); }

  /// Adds the gradients of wanted parameters to where those of parameters go, and brings rows of tables together.
  void finish();
  /// The gradients of the wanted nodes, in the order of the options.
  std::vector<Tensor> wanted() const;

 private:
  void open(NodeId base);
  /// The numbers of a parameter, if its gradient may be added to them; else null.
  float* values_to_change(NodeId node, const Parameter& parameter, bool is_for_nothing_else);
  void pass_on_wanted();
  template <class T>
  void add(std::byte* to, NodeId node) const;

  const Graph& graph_;
  const NodeTable& table_;
  const BackwardRequest& request_;
  Ledger& ledger_;
  struct Table {
    NodeId node;
    float* values;
  };
  std::vector<Table> tables_;  // to whose rows gradients are added at once
  Arena memory_;
  std::vector<Gradients*> used_;
  bool is_at_end_ = false;
};

}  // namespace espalier::exec
