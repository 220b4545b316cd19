/// Compares the two forms of a network with each other and with plain code.
#pragma once

#include <vector>

#include "espalier/models/form.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"

namespace espalier::models::testing {

/// The loss of all instances, recorded by `record`.
template <class Instance, class Record>
espalier::testing::LossOf all_of(const std::vector<Instance>& instances, const Record& record) {
  return [&instances, record](Graph& graph, std::vector<Expr>&) {
    std::vector<Expr> losses;
    for (const Instance& instance : instances) {
      graph.begin_instance();
      losses.push_back(record(graph, instance));
    }
    return sum(losses);
  };
}

/// Makes the network in both forms: with equal weights they have equal losses and gradients, in every way to compute.
template <class Make, class Instance>
void expect_forms_agree(const Make& make, const std::vector<Instance>& instances) {
  Model by_rows;
  const auto rows = make(by_rows, Form::kRows);
  Model by_nodes;
  const auto nodes = make(by_nodes, Form::kNodes);
  const auto of_rows = all_of(instances, rows);
  espalier::testing::expect_cells_agree(by_rows, of_rows);
  espalier::testing::expect_near(
      espalier::testing::numbers_of(by_rows, {}, of_rows),
      espalier::testing::numbers_of(by_nodes, {.execution = Execution::kPlain}, all_of(instances, nodes)),
      "rows beside nodes");
}

}  // namespace espalier::models::testing
