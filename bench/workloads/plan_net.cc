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
#include "espalier/nn/linear.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/relu.h"
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
      kinds_.push_back(cell("plan", [first, second](std::span<const Expr> in) {
        return relu(second(relu(first(in.size() == 1 ? in[0] : concat(in, 0)))));
      }));
    }
  }

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    encode(graph, instance, [&](const Expr& state, const QueryPlan::Node& node) {
      losses.push_back(squared_distance(time_(state), graph.input({1}, std::array{node.target})));
    });
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(time_(encode(graph, instance, [](const Expr&, const QueryPlan::Node&) {})));
  }

 private:
  /// The state of the root. Calls at_node(state, node) for every node.
  template <class AtNode>
  Expr encode(Graph& graph, std::int32_t instance, const AtNode& at_node) const {
    thread_local std::vector<Expr> states;  // of one instance; its memory serves the next
    states.clear();
    for (const QueryPlan::Node& node : data_->instances[static_cast<std::size_t>(instance)].nodes) {
      std::array<Expr, 3> parts{graph.input({data_->features}, node.features)};
      std::size_t count = 1;
      for (const std::int32_t child : {node.left, node.right})
        if (child >= 0) parts[count++] = states[static_cast<std::size_t>(child)];
      states.push_back(kinds_[static_cast<std::size_t>(node.kind)](std::span<const Expr>(parts).first(count)));
      at_node(states.back(), node);
    }
    return states.back();
  }

  QueryPlans data_;
  nn::Linear time_;
  std::vector<Cell<Expr(std::span<const Expr>)>> kinds_;  // by kind of operator: the state of a node
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
    auto network = std::make_unique<PlanNetwork>(data(), hidden_);
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
