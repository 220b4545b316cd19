#include "bench/workloads/plan_net.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/limit/plan_net.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/relu.h"
#include "espalier/ops/row.h"
#include "espalier/ops/squared_distance.h"

namespace espalier::bench {
namespace {

using QueryPlans = std::shared_ptr<const DataSet<QueryPlan>>;

std::vector<std::int32_t> children_by_kind(const DataSet<QueryPlan>& data) {
  std::vector<std::int32_t> children(static_cast<std::size_t>(data.words), 0);
  for (const QueryPlan& plan : data.instances)
    for (const QueryPlan::Node& node : plan.nodes) {
      std::int32_t& most = children[static_cast<std::size_t>(node.kind)];
      most = std::max(most, (node.left >= 0 ? 1 : 0) + (node.right >= 0 ? 1 : 0));
    }
  return children;
}

class PlanNetwork : public Network {
 public:
  PlanNetwork(QueryPlans data, std::int32_t hidden) : data_(std::move(data)), time_(model_ / "time", hidden, 1) {
    const std::vector<std::int32_t> children = children_by_kind(*data_);
    for (std::size_t k = 0; k < children.size(); ++k) {
      const Scope scope = model_ / ("kind" + std::to_string(k));
      const nn::Linear first(scope / "first", data_->features + children[k] * hidden, hidden);
      const nn::Linear second(scope / "second", hidden, hidden);
      const auto state = [first, second](std::span<const Expr> in) {
        return relu(second(relu(first(in.size() == 1 ? in[0] : concat(in, 0)))));
      };
      kinds_.push_back(cell("plan", state));
      of_recursion_.emplace_back(children[k], state);
    }
  }

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(loss(graph, instance, rows(encode(graph, instance))));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(time_(encode(graph, instance).back()));
  }

 protected:
  const QueryPlan& plan(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }
  /// Of all nodes, whose states are the rows of `states`.
  Expr loss(Graph& graph, std::int32_t instance, const Expr& states) const {
    thread_local std::vector<float> targets;
    targets.clear();
    for (const QueryPlan::Node& node : plan(instance).nodes) targets.push_back(node.target);
    return squared_distance(time_(states), graph.input_rows({1}, targets));
  }

  QueryPlans data_;
  nn::Linear time_;
  std::vector<RecursionKind> of_recursion_;  // by kind of operator, likewise

 private:
  /// The states of all nodes, the root's last. Valid until the next call.
  const std::vector<Expr>& encode(Graph& graph, std::int32_t instance) const {
    thread_local std::vector<Expr> states;  // of one instance; its memory serves the next
    states.clear();
    for (const QueryPlan::Node& node : plan(instance).nodes) {
      std::array<Expr, 3> parts{graph.input({data_->features}, node.features)};
      std::size_t count = 1;
      for (const std::int32_t child : {node.left, node.right})
        if (child >= 0) parts[count++] = states[static_cast<std::size_t>(child)];
      states.push_back(kinds_[static_cast<std::size_t>(node.kind)](std::span<const Expr>(parts).first(count)));
    }
    return states;
  }

  std::vector<Cell<Expr(std::span<const Expr>)>> kinds_;  // by kind of operator: the state of a node
};

/// The same with a node for all of a plan.
class PlanRecursion : public PlanNetwork {
 public:
  PlanRecursion(QueryPlans data, std::int32_t hidden)
      : PlanNetwork(std::move(data), hidden), recursion_("plan", of_recursion_) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(loss(graph, instance, states(graph, plan(instance))));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    const Expr all = states(graph, plan(instance));
    outputs.push_back(time_(row(all, all.rows() - 1)));
  }

 private:
  Expr states(Graph& graph, const QueryPlan& plan) const {
    thread_local std::vector<const float*> features;
    thread_local Structure structure;
    features.clear();
    structure.clear();
    for (const QueryPlan::Node& node : plan.nodes) {
      features.push_back(node.features.data());
      std::array<std::int32_t, 2> children{};
      std::size_t count = 0;
      for (const std::int32_t child : {node.left, node.right})
        if (child >= 0) children[count++] = child;
      structure.add(node.kind, structure.size(), std::span<const std::int32_t>(children).first(count));
    }
    return recursion_(graph.input_rows({data_->features}, features), structure)[0];
  }

  Recursion recursion_;
};

class PlanNetWorkload : public DataWorkload<QueryPlan> {
 public:
  PlanNetWorkload(QueryPlans data, std::int32_t hidden)
      : DataWorkload("B7", "query-plan network", std::to_string(hidden), std::move(data)), hidden_(hidden) {}

  std::int32_t nodes(std::int32_t number) const override {
    return static_cast<std::int32_t>(instance(number).nodes.size());
  }
  bool has_limit() const override { return true; }

  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    std::unique_ptr<Network> network;
    if (variant == Variant::kRecursion)
      network = std::make_unique<PlanRecursion>(data(), hidden_);
    else
      network = std::make_unique<PlanNetwork>(data(), hidden_);
    if (variant == Variant::kLimit || variant == Variant::kLimitDedupe)
      return std::make_unique<PlanNetLimit>(data(), network->model());
    return make_espalier_runner(std::move(network), *this, variant, leaves);
  }

 private:
  std::int32_t hidden_;
};

}  // namespace

std::unique_ptr<Workload> plan_net_workload(QueryPlans data, std::int32_t hidden) {
  return std::make_unique<PlanNetWorkload>(std::move(data), hidden);
}

}  // namespace espalier::bench
