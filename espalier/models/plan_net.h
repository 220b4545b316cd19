/// PlanNet: the run time of a query plan, from one small network per kind of operator (Marcus and Papaemmanouil,
/// "Plan-structured deep neural network models for query performance prediction", VLDB 2019).
///
///   a = relu([features; s_1; s_2] W1 + b1)        a, s: [hidden], with W1, b1, W2, b2 of the operator's kind
///   s = relu(a W2 + b2)
///   time = s w + b                                the same for all kinds: the logarithm of a run time
/// The loss is the squared error of the times of all operators, or of the root.
///
/// Differences from the paper: times are read from the whole state by one layer instead of being its first element, and
/// they are logarithms; a kind has as many children as it has at most in the training data (up to two; those after the
/// second are added to the second), and those that an operator does not have are zeros.
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/form.h"
#include "espalier/models/instances.h"
#include "espalier/models/settings.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"

namespace espalier::models {

struct ESPALIER_EXPORT PlanSettings {
  std::int32_t hidden = 64;
  std::string loss = "every";  // operator, or "root"

  void list(SettingList& list);
};

class ESPALIER_EXPORT PlanNet {
 public:
  /// `children` gives the number of children of each kind, at most two; `features` are those of every operator.
  PlanNet(Model& model, const PlanSettings& settings, std::span<const std::int32_t> children, std::int32_t features,
          Form form = Form::kRows);

  /// The predicted logarithm of the root's time: [1].
  Expr time(Graph& graph, const QueryPlan& plan) const;
  /// One element, or one per operator, to be summed; and the root's time from the same pass, unless `time` is null.
  Expr loss(Graph& graph, const QueryPlan& plan, Expr* time = nullptr) const;

  /// How many children the kinds have in these plans, at most two.
  static std::vector<std::int32_t> children_by_kind(std::span<const QueryPlan> plans, std::int32_t kinds);

 private:
  using In = std::span<const Expr>;
  void add_kind(Model& model, std::size_t kind);
  /// Of all operators, the root's last: one Expr of many rows, or several. Valid until the next call in this thread.
  const std::vector<Expr>& states(Graph& graph, const QueryPlan& plan) const;
  Expr along(Graph& graph, const QueryPlan& plan) const;
  void by_node(Graph& graph, const QueryPlan& plan, std::vector<Expr>& states) const;
  Expr time_of(const std::vector<Expr>& states) const;

  PlanSettings settings_;
  Form form_;
  std::int32_t features_;
  std::vector<std::int32_t> children_;
  nn::Linear time_;
  std::vector<Cell<Expr(In)>> cells_;  // by kind: the state of an operator
  std::vector<RecursionKind> kinds_;   // likewise
  std::unique_ptr<const Recursion> recursion_;
};

}  // namespace espalier::models
