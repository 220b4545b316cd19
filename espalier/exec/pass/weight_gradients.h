/// WeightGradients: what the steps of a backward pass leave for the gradients of shared operands, by signature, until
/// these are computed: at the end, or before the step that made such an operand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/exec/bind/bound_step.h"
#include "espalier/exec/bind/gradient_places.h"
#include "espalier/exec/bind/ledger.h"
#include "espalier/exec/collect/backward_request.h"
#include "espalier/exec/node_table.h"
#include "espalier/exec/pass/deferred_rows.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class WeightGradients {
 public:
  WeightGradients(const Graph& graph, const NodeTable& table, const BackwardRequest& request, Ledger& ledger,
                  GradientPlaces& places, Statistics& statistics)
      : graph_(graph), table_(table), request_(request), ledger_(ledger), places_(places), statistics_(statistics) {
    lists_.group_of.assign(static_cast<std::size_t>(graph.signatures().size()), -1);
  }

  /// Keeps the rows of a step, as its backward saw them, if some shared operand of it gets a gradient.
  void add(const BoundStep& view, const Saved& saved);
  /// Before a shared node is differentiated, those that use it give it its gradient.
  void run_users_of(NodeId node);
  void run_all() {
    for (DeferredRows& group : groups()) run(group);
  }
  std::int64_t memory() const {
    std::int64_t bytes = memory_of(lists_.group_of);
    for (const DeferredRows& group : groups()) bytes += group.memory();
    return bytes;
  }
  /// Beside the rows of groups.
  static std::int64_t memory_of_groups(const Graph& graph) {
    return std::ssize(graph.signatures()) * static_cast<std::int64_t>(sizeof(std::int32_t));
  }

 private:
  /// What a thread keeps from one pass to the next.
  struct Lists {
    std::vector<DeferredRows> groups;
    std::vector<std::int32_t> group_of;  // by signature; -1: none
    std::vector<DeferredRows::Target> targets;

    static Lists& of_thread() {
      thread_local Lists lists;
      return lists;
    }
  };
  std::span<DeferredRows> groups() const { return std::span(lists_.groups).first(at(used_)); }
  DeferredRows& group_of(SignatureId signature);
  void run(DeferredRows& group);

  const Graph& graph_;
  const NodeTable& table_;
  const BackwardRequest& request_;
  Ledger& ledger_;
  GradientPlaces& places_;
  Lists& lists_ = Lists::of_thread();
  Statistics& statistics_;
  std::int32_t used_ = 0;  // of the groups
};

}  // namespace espalier::exec
