/// Two million nodes in one graph, deep or wide, on a stack of 8 MB.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/add.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lookup.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/sum_axis.h"
#include "tests/support/small_stack.h"

namespace espalier {
namespace {

using testing::on_8_megabytes;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int32_t kNodes = 200'000;
#else
constexpr std::int32_t kNodes = 2'000'000;
#endif

/// One chain: nothing runs together.
void run_chain(Strategy strategy) {
  Model model;
  Parameter& w = model.add("w", {}, init::constant(1));
  Graph graph({.strategy = strategy});
  Expr x = mul(graph.constant(0.5), w);
  while (graph.size() < kNodes) x = scale(x, graph.size() % 2 == 0 ? 2 : 0.5);
  x.backward();
  const double value = x.scalar();
  EXPECT_TRUE(value == 0.5 || value == 0.25) << value;
  EXPECT_EQ(model.gradients().find(w)->dense.item(), value);
  EXPECT_EQ(graph.statistics().steps, graph.statistics().bound + graph.statistics().forced);
}

/// Many small instances: all run together.
void run_wide(Strategy strategy) {
  constexpr std::int32_t kPerInstance = 10;
  Model model;
  Parameter& table = model.add("table", {50, 4}, init::constant(1));
  Parameter& W = model.add("W", {4, 4}, init::constant(0.25));
  Graph graph({.strategy = strategy, .memoise = Memoise::kOff});
  std::vector<Expr> losses;
  constexpr std::int32_t kInstances = kNodes / kPerInstance;
  losses.reserve(kInstances);
  for (std::int32_t i = 0; i < kInstances; ++i) {
    graph.begin_instance();
    Expr x = lookup(graph, table, i % 50);
    for (int k = 0; k < 4; ++k) x = scale(linear(x, W), 1);
    losses.push_back(sum(x, 0));
  }
  const Expr loss = sum(losses);
  EXPECT_GE(graph.size(), kNodes);
  loss.backward();
  EXPECT_EQ(loss.scalar(), 4.0 * kInstances);
  EXPECT_NEAR(model.gradients().find(table)->to_tensor().at(0), kInstances / 50.0, 1e-3 * kInstances / 50.0);
  if (strategy == Strategy::kFrontier) {
    EXPECT_EQ(graph.statistics().steps, 11);
  }
}

TEST(LargeGraphs, AChainOfTwoMillionNodesIsDifferentiated) {
  on_8_megabytes([] { run_chain(Strategy::kFrontier); });
}
TEST(LargeGraphs, AChainByDepth) {
  on_8_megabytes([] { run_chain(Strategy::kDepth); });
}
TEST(LargeGraphs, AChainByAgenda) {
  on_8_megabytes([] { run_chain(Strategy::kAgenda); });
}

TEST(LargeGraphs, ManyInstancesOfTwoMillionNodesAreDifferentiated) {
  on_8_megabytes([] { run_wide(Strategy::kFrontier); });
}
TEST(LargeGraphs, ManyInstancesByDepth) {
  on_8_megabytes([] { run_wide(Strategy::kDepth); });
}
TEST(LargeGraphs, ManyInstancesByAgenda) {
  on_8_megabytes([] { run_wide(Strategy::kAgenda); });
}
TEST(LargeGraphs, ManyInstancesOneNodeAStep) {
  on_8_megabytes([] { run_wide(Strategy::kNone); });
}

TEST(LargeGraphs, AreRefusedByAMemoryBudget) {
  Graph graph({.memory_budget = 1 << 20});
  Model model;
  Parameter& w = model.add("w", {}, init::constant(1));
  Expr x = mul(graph.constant(0.5), w);
  for (int i = 0; i < 100'000; ++i) x = mul(x, w);
  EXPECT_THROW(x.backward(), ResourceError);
  EXPECT_TRUE(model.gradients().empty());
}

}  // namespace
}  // namespace espalier
