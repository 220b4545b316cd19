#include "bench/workloads/plan_net.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/limit/plan_net.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/models/plan_net.h"

namespace espalier::bench {
namespace {

using QueryPlans = std::shared_ptr<const DataSet<QueryPlan>>;

class PlanNetwork : public Network {
 public:
  PlanNetwork(QueryPlans data, std::int32_t hidden, models::Form form)
      : data_(std::move(data)),
        net_(model_, {.hidden = hidden}, models::PlanNet::children_by_kind(data_->instances, data_->words),
             data_->features, form) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(net_.loss(graph, plan(instance)));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.time(graph, plan(instance)));
  }

 private:
  const QueryPlan& plan(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  QueryPlans data_;
  models::PlanNet net_;
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
    const models::Form form = variant == Variant::kRecursion ? models::Form::kRows : models::Form::kNodes;
    auto network = std::make_unique<PlanNetwork>(data(), hidden_, form);
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
