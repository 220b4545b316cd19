/// SharedGradients: what the steps of a backward pass leave for the gradients of shared operands, by signature, until
/// these are computed: at the end, or before the step that made such an operand.
#pragma once

#include <cstdint>
#include <span>

#include "espalier/base/at.h"
#include "espalier/exec/backward.h"
#include "espalier/exec/backward_lists.h"
#include "espalier/exec/leaf_gradients.h"
#include "espalier/exec/ledger.h"
#include "espalier/exec/node_table.h"
#include "espalier/exec/step_view.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class SharedGradients {
 public:
  SharedGradients(const Graph& graph, const NodeTable& table, const Wishes& wishes, Ledger& ledger,
                  LeafGradients& leaves, BackwardLists& lists, Statistics& statistics)
      : graph_(graph),
        table_(table),
        wishes_(wishes),
        ledger_(ledger),
        leaves_(leaves),
        lists_(lists),
        statistics_(statistics) {
    lists_.group_of.assign(static_cast<std::size_t>(graph.signatures().size()), -1);
  }

  /// Keeps the rows of a step, as its backward saw them, if some shared operand of it gets a gradient.
  void add(const StepView& view, const Saved& saved);
  /// Before a shared node is differentiated, those that use it give it its gradient.
  void run_users_of(NodeId node);
  void run_all() {
    for (DeferredGroup& group : groups()) run(group);
  }

 private:
  std::span<DeferredGroup> groups() const { return std::span(lists_.groups).first(at(used_)); }
  DeferredGroup& group_of(SignatureId signature);
  void run(DeferredGroup& group);

  const Graph& graph_;
  const NodeTable& table_;
  const Wishes& wishes_;
  Ledger& ledger_;
  LeafGradients& leaves_;
  BackwardLists& lists_;
  Statistics& statistics_;
  std::int32_t used_ = 0;  // of the groups
};

}  // namespace espalier::exec
