/// What runs tell about themselves as plain data agrees with the statistics, and with what every strategy does.
#include "espalier/exec/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "tests/support/random_trees.h"

namespace espalier {
namespace {

using testing::random_trees;
using testing::SentimentNet;

TEST(Batches, AgreeWithTheStatistics) {
  const SentimentNet net(6);
  for (const Strategy strategy : kAllStrategies)
    for (const bool training : {false, true}) {
      Graph graph({.training = training, .strategy = strategy});
      const Expr loss = net.loss(graph, random_trees(3, 7, SentimentNet::kWords), /*every_node=*/true);
      if (training)
        loss.backward();
      else
        graph.finish({loss});
      const Batches batches = read_batches(graph);
      const Statistics counts = graph.statistics();
      EXPECT_EQ(std::ssize(batches.steps), counts.steps);
      std::int64_t nodes = 0;
      std::int64_t copied = 0;
      for (const BatchedStep& step : batches.steps) {
        nodes += step.nodes;
        copied += step.copied;
        EXPECT_GE(step.needed, 0);
      }
      EXPECT_EQ(nodes, counts.nodes);
      EXPECT_EQ(copied, counts.bytes_copied);
      EXPECT_EQ(batches.runs.size(), 1U);
      EXPECT_EQ(batches.runs[0].bound, counts.bound);
      // Every row of every step belongs to one node.
      std::set<std::pair<std::int32_t, std::int32_t>> rows;
      for (const BatchedNode& node : batches.nodes)
        if (node.step >= 0) {
          EXPECT_TRUE(rows.insert({node.step, node.row}).second);
        }
      EXPECT_EQ(std::ssize(rows), counts.nodes);
    }
}

TEST(Batches, StrategiesSideBySideAreWhatEachWouldDo) {
  const SentimentNet net(6);
  const auto trees = random_trees(5, 6, SentimentNet::kWords);
  for (const bool training : {false, true}) {
    std::vector<StrategyCounts> first;
    for (const Strategy strategy : kAllStrategies) {
      Graph graph({.training = training, .strategy = strategy});
      const Expr loss = net.loss(graph, trees, /*every_node=*/true);
      if (training)
        loss.backward();
      else
        graph.finish({loss});
      const std::vector<StrategyCounts> all = compare_strategies(graph);
      ASSERT_EQ(all.size(), kAllStrategies.size());
      const auto mine = std::find_if(all.begin(), all.end(), [&](const auto& of) { return of.strategy == strategy; });
      EXPECT_EQ(mine->steps, graph.statistics().steps);
      EXPECT_EQ(mine->nodes, graph.statistics().nodes);
      EXPECT_EQ(mine->bound, graph.statistics().bound);
      EXPECT_EQ(mine->copied, graph.statistics().bytes_copied) << name_of(strategy) << training;
      if (first.empty()) first = all;
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].steps, first[i].steps);
    }
  }
}

TEST(Batches, ValuesReadInBetweenAreSeveralRuns) {
  const SentimentNet net(4);
  Graph graph({.training = false});
  const auto trees = random_trees(5, 3, SentimentNet::kWords);
  const Expr first = net.loss(graph, {trees[0]}, false);
  first.value();
  const Expr second = net.loss(graph, {trees[1], trees[2]}, false);
  second.value();
  const Batches batches = read_batches(graph);
  EXPECT_EQ(batches.runs.size(), 2U);
  EXPECT_EQ(std::ssize(batches.steps), graph.statistics().steps);
  const std::vector<StrategyCounts> all = compare_strategies(graph);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().steps, graph.statistics().steps);
  EXPECT_EQ(all.back().copied, graph.statistics().bytes_copied);
  const auto says_runs = [](const Apart& apart) { return apart.kind == Apart::Why::kRuns; };
  EXPECT_TRUE(std::any_of(batches.apart.begin(), batches.apart.end(), says_runs));
}

}  // namespace
}  // namespace espalier
