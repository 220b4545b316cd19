#include "bench/workloads/plan_net.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "tests/bench/agreement.h"

namespace espalier::bench {
namespace {

/// Kinds 0 and 1 have no children, 2 and 3 one, 4 two. Grown from the root; -1s are filled in by what comes before.
std::int32_t grow(QueryPlan& plan, int depth, std::mt19937& random) {
  const auto draw = [&](unsigned n) { return static_cast<std::int32_t>(random() % n); };
  QueryPlan::Node node;
  node.kind = depth == 0 ? draw(2) : draw(5);
  if (node.kind >= 2) node.left = grow(plan, depth - 1, random);
  if (node.kind == 4) node.right = grow(plan, depth - 1, random);
  for (int i = 0; i < 3; ++i) node.features.push_back(static_cast<float>(draw(100)) / 50 - 1);
  node.target = static_cast<float>(draw(100)) / 20;
  plan.nodes.push_back(node);
  return static_cast<std::int32_t>(plan.nodes.size()) - 1;
}

std::shared_ptr<const DataSet<QueryPlan>> random_plans(const std::vector<int>& depths) {
  std::mt19937 random(3);
  auto data = std::make_shared<DataSet<QueryPlan>>();
  data->words = 5;
  data->features = 3;
  for (const int depth : depths) {
    QueryPlan plan;
    grow(plan, depth, random);
    data->instances.push_back(plan);
  }
  // A kind has as many inputs as its children need: every kind must be there.
  QueryPlan all;
  for (const auto& [kind, left, right] :
       std::vector<std::array<std::int32_t, 3>>{{0, -1, -1}, {2, 0, -1}, {1, -1, -1}, {3, 2, -1}, {4, 1, 3}}) {
    QueryPlan::Node node{.kind = kind, .left = left, .right = right, .features = {0.5F, -1, 1}, .target = 2};
    all.nodes.push_back(node);
  }
  data->instances.push_back(all);
  return data;
}

TEST(PlanNetLimit, ComputesWhatEspalierComputes) {
  expect_limit_agrees(*plan_net_workload(random_plans({3, 0, 6, 9, 1, 5, 5, 8}), 10));
}

TEST(PlanNetLimit, ComputesTheSameWithWeightsLaidOut) {
  expect_limit_agrees(*plan_net_workload(random_plans({9, 9, 12, 9, 1, 8, 8, 8, 14}), 72));
}

TEST(PlanNetLimit, ComputesOneOperator) { expect_limit_agrees(*plan_net_workload(random_plans({0, 0}), 6)); }

}  // namespace
}  // namespace espalier::bench
