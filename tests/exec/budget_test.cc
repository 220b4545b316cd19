/// What a memory budget allows: minibatches in parts with the gradients of the whole, or a refusal that changes
/// nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/lstm.h"
#include "espalier/ops/all.h"
#include "espalier/optim/sgd.h"
#include "tests/exec/small_model.h"
#include "tests/support/budget.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_trees.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::budget_of;
using testing::kStrategies;
using testing::random_trees;
using testing::RandomTree;
using testing::SentimentNet;

class Budget : public testing::SmallModel {
 protected:
  /// Eight instances of equal size.
  Expr chains(Graph& graph, std::vector<Expr>* states = nullptr) const {
    std::vector<Expr> losses;
    for (int i = 0; i < 8; ++i) {
      graph.begin_instance();
      Expr x = lookup(graph, table, i);
      for (int k = 0; k < 20; ++k) x = tanh(affine(x, W, b));
      if (states != nullptr) states->push_back(x);
      losses.push_back(sum_elements(tanh(linear(x, V))));
    }
    return sum(losses);
  }
};

TEST_F(Budget, DividesByInstances) {
  SentimentNet net(64);
  const std::vector<RandomTree> trees = random_trees(7, 64, SentimentNet::kWords);
  Gradients whole;
  Graph unlimited;
  const Expr expected = net.loss(unlimited, trees, true);
  expected.backward({.into = &whole, .wanted = {}});
  EXPECT_LE(unlimited.statistics().parts, 1);
  const double tolerance = 1e-4 * whole.norm();
  std::int64_t parts_before = 1;
  for (const int percent : {50, 20, 5}) {
    SCOPED_TRACE(percent);
    Graph graph({.memory_budget = budget_of(unlimited.statistics(), percent)});
    Gradients parts;
    const Expr loss = net.loss(graph, trees, true);
    loss.backward({.into = &parts, .wanted = {}});
    EXPECT_GT(graph.statistics().parts, parts_before);
    parts_before = graph.statistics().parts;
    EXPECT_LE(graph.statistics().peak_bytes, graph.options().memory_budget);
    EXPECT_NEAR(loss.scalar(), expected.scalar(), 1e-4 * expected.scalar());
    ASSERT_EQ(parts.all().size(), whole.all().size());
    for (const Gradient* gradient : parts.all()) {
      const Gradient* other = whole.find(*gradient->parameter);
      ASSERT_EQ(gradient->rows, other->rows);
      for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
        ASSERT_NEAR(gradient->values().at(i), other->values().at(i), tolerance);
    }
  }
}

TEST_F(Budget, DividesALossInWhichInstancesCountDifferently) {
  const auto record = [&](Graph& graph) {
    std::vector<Expr> losses;
    for (int i = 0; i < 8; ++i) {
      graph.begin_instance();
      Expr x = lookup(graph, table, i);
      for (int k = 0; k < 20 + i; ++k) x = tanh(affine(x, W, b));
      losses.push_back(testing::asymmetric_sum(x));
    }
    return sum({mean(losses), losses[2], sum({losses[5], losses[2]})});
  };
  for (const Strategy strategy : kStrategies) {
    Graph unlimited({.strategy = strategy});
    Gradients whole;
    record(unlimited).backward({.into = &whole, .wanted = {}});
    const double tolerance = 1e-4 * whole.norm();
    Graph graph({.strategy = strategy, .memory_budget = budget_of(unlimited.statistics(), 20)});
    Gradients parts;
    record(graph).backward({.into = &parts, .wanted = {}});
    EXPECT_GE(graph.statistics().parts, 2);
    for (const Gradient* gradient : whole.all())
      for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
        EXPECT_NEAR(parts.find(*gradient->parameter)->values().at(i), gradient->values().at(i), tolerance);
  }
}

TEST_F(Budget, IsLookedAtInTimeLinearInTheNodes) {
  const auto record = [&](Graph& graph) {
    std::vector<Expr> losses;
    for (int i = 0; i < 64; ++i) {
      graph.begin_instance();
      losses.push_back(sum_elements(tanh(linear(lookup(graph, table, i % 9), W))));
    }
    Expr loss = sum(losses);
    for (int i = 0; i < 60; ++i) loss = mean({loss, loss});  // 2^60 paths, and a weight of 1
    return loss;
  };
  Graph unlimited;
  Gradients whole;
  record(unlimited).backward({.into = &whole, .wanted = {}});
  ASSERT_FALSE(whole.empty());
  const double tolerance = 1e-4 * whole.norm();
  Graph graph({.memory_budget = budget_of(unlimited.statistics(), 50)});
  Gradients parts;
  record(graph).backward({.into = &parts, .wanted = {}});
  EXPECT_GT(graph.statistics().parts, 1);
  EXPECT_LE(graph.statistics().peak_bytes, graph.options().memory_budget);
  for (const Gradient* gradient : whole.all())
    for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
      EXPECT_NEAR(parts.find(*gradient->parameter)->values().at(i), gradient->values().at(i), tolerance);
}

TEST_F(Budget, AKeptValueOutlivesADividedBackward) {
  Graph unlimited({.memoise = Memoise::kOff});
  std::vector<Expr> states;
  chains(unlimited, &states).backward();
  const Tensor expected = states[3].value();
  states.clear();
  model.gradients().clear();
  optim::Sgd sgd(model, {.learning_rate = 0.1});
  Graph graph({.memoise = Memoise::kOff, .memory_budget = budget_of(unlimited.statistics(), 40)});
  const Expr loss = chains(graph, &states);
  graph.keep(states[3]);
  loss.backward();
  EXPECT_GE(graph.statistics().parts, 2);
  sgd.step();
  const Tensor kept = states[3].value();
  for (std::int64_t i = 0; i < kept.elements(); ++i) EXPECT_NEAR(kept.at(i), expected.at(i), 1e-5);
  EXPECT_EQ(loss.value().elements(), 1);
}

TEST_F(Budget, HoldsForBackwardAfterValue) {
  Graph unlimited({.memoise = Memoise::kOff});
  const Expr free = chains(unlimited);
  free.value();
  const std::int64_t values = unlimited.statistics().peak_bytes;
  Gradients whole;
  free.backward({.into = &whole, .wanted = {}});
  const std::int64_t peak = unlimited.statistics().peak_bytes;
  ASSERT_GT(peak, values + 1000);
  const double tolerance = 1e-4 * whole.norm();
  Graph graph({.memoise = Memoise::kOff, .memory_budget = (values + peak) / 2});
  const Expr loss = chains(graph);
  EXPECT_EQ(loss.scalar(), free.scalar());
  Gradients parts;
  loss.backward({.into = &parts, .wanted = {}});
  EXPECT_GT(graph.statistics().parts, 1);
  for (const Gradient* gradient : whole.all())
    for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
      EXPECT_NEAR(parts.find(*gradient->parameter)->values().at(i), gradient->values().at(i), tolerance);
  EXPECT_LE(graph.statistics().peak_bytes, graph.options().memory_budget);
}

TEST_F(Budget, TooSmallForOneInstanceIsRefusedWithTheNumbers) {
  SentimentNet net(64);
  const std::vector<RandomTree> trees = random_trees(7, 1, SentimentNet::kWords);
  Gradients gradients;
  constexpr std::int64_t kBudget = 20'000;  // less than the records take
  Graph graph({.memory_budget = kBudget});
  const Expr loss = net.loss(graph, trees, true);
  for (int round = 0; round < 2; ++round) {
    try {
      loss.backward({.into = &gradients, .wanted = {}});
      ADD_FAILURE() << "nothing was refused";
    } catch (const ResourceError& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(std::to_string(kBudget)), std::string::npos) << refusal.what();
    }
  }
  EXPECT_TRUE(gradients.empty());
  graph.clear();
  EXPECT_EQ((graph.constant(3) * 2).scalar(), 6);  // the graph goes on
}

/// Instances that meet before the loss.
Expr met(Graph& graph, const Parameter& table, const Parameter& W, std::vector<Expr>* states = nullptr) {
  std::vector<Expr> ends;
  for (int i = 0; i < 16; ++i) {
    graph.begin_instance();
    Expr x = lookup(graph, table, i % 9);
    for (int k = 0; k < 50; ++k) x = dropout(tanh(linear(x, W)), 0.1);
    ends.push_back(x);
    if (states != nullptr) states->push_back(x);
  }
  return sum_elements(square(sum(ends)));  // no sum of losses
}

TEST_F(Budget, ValuesAreComputedAgainWhereInstancesMeetBeforeTheLoss) {
  for (const Strategy strategy : kStrategies) {
    Graph unlimited({.step = 3, .strategy = strategy, .memoise = Memoise::kOff});
    Gradients whole;
    std::vector<Expr> states;
    const Expr expected = met(unlimited, table, W, &states);
    expected.backward({.into = &whole, .wanted = {}});
    EXPECT_EQ(unlimited.statistics().recomputed, 0);
    std::int64_t recomputed_before = 0;
    for (const int percent : {80, 50, 30}) {
      SCOPED_TRACE(percent);
      Graph graph({.step = 3,
                   .strategy = strategy,
                   .memoise = Memoise::kOff,
                   .memory_budget = budget_of(unlimited.statistics(), percent)});
      std::vector<Expr> kept;
      const Expr loss = met(graph, table, W, &kept);
      graph.keep(kept[2]);
      Gradients parts;
      loss.backward({.into = &parts, .factor = 1, .wanted = {}});
      const Statistics statistics = graph.statistics();
      EXPECT_EQ(statistics.parts, 1);
      EXPECT_GT(statistics.recomputed, 0);
      EXPECT_GE(statistics.recomputed, recomputed_before);
      recomputed_before = statistics.recomputed;
      EXPECT_LE(statistics.peak_bytes, graph.options().memory_budget);
      EXPECT_LT(statistics.nodes, 2 * unlimited.statistics().nodes) << "each node twice at most";
      EXPECT_NEAR(loss.scalar(), expected.scalar(), 1e-4 * expected.scalar());
      EXPECT_EQ(kept[2].value(), states[2].value());
      for (const Gradient* gradient : whole.all())
        for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
          ASSERT_NEAR(parts.find(*gradient->parameter)->values().at(i), gradient->values().at(i), 1e-4 * whole.norm());
    }
  }
}

TEST_F(Budget, ALongChainFitsWhereItsValuesAreComputedAgain) {
  const nn::LstmCell cell(model / "cell", kWidth, 32);
  const auto record = [&](Graph& graph) {
    auto state = cell.initial(graph);
    for (int k = 0; k < 2000; ++k) state = cell(lookup(graph, table, k % 9), state);
    return sum_elements(state.h);
  };
  Graph unlimited;
  Gradients whole;
  record(unlimited).backward({.into = &whole, .wanted = {}});
  Graph graph({.memory_budget = budget_of(unlimited.statistics(), 15)});
  Gradients again;
  record(graph).backward({.into = &again, .wanted = {}});
  EXPECT_GT(graph.statistics().recomputed, 1000);
  EXPECT_LE(graph.statistics().peak_bytes, graph.options().memory_budget);
  for (const Gradient* gradient : whole.all())
    for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
      ASSERT_NEAR(again.find(*gradient->parameter)->values().at(i), gradient->values().at(i), 1e-4 * whole.norm());
}

TEST_F(Budget, IsRefusedWithTheReasonWhereEvenThatDoesNotFit) {
  Graph graph({.memoise = Memoise::kOff, .memory_budget = 100'000});
  const std::string refusal = testing::refusal_of<ResourceError>([&] { met(graph, table, W).backward(); });
  EXPECT_NE(refusal.find("instances meet before the loss"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace espalier
