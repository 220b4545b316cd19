/// How many steps the minibatches of users take, drawn by statistics and, where there is data, read from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "espalier/batch/schedule.h"
#include "tests/batch/real_data.h"
#include "tests/batch/small_graph.h"
#include "tests/batch/workloads.h"
#include "tests/support/data_folder.h"

namespace espalier::batch {
namespace {

constexpr int kMinibatches = 20;
constexpr int kTrees = 64;
constexpr int kLattices = 32;

std::int64_t steps(Strategy strategy, const SmallGraph& graph) { return schedule(strategy, graph.view()).steps(); }

/// On every one of the minibatches of trees, a cell and a head a tree node.
void expect_the_bound(const std::function<BinaryTree(Random&)>& draw) {
  for (int seed = 1; seed <= kMinibatches; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(static_cast<std::uint64_t>(seed));
    SmallGraph graph;
    for (int t = 0; t < kTrees; ++t) add_cells(graph, draw(random));
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    EXPECT_TRUE(made.bound_is_exact);
    EXPECT_EQ(made.steps(), made.bound);
    EXPECT_GE(steps(Strategy::kDepth, graph) * 2, made.steps() * 3);
    EXPECT_GE(steps(Strategy::kAgenda, graph) * 2, made.steps() * 3);
  }
}

void expect_few_steps_beyond_the_bound(const std::function<Lattice(Random&)>& draw) {
  std::vector<double> ratios;
  for (int seed = 1; seed <= kMinibatches; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    SmallGraph graph;
    for (int l = 0; l < kLattices; ++l) add_lattice(graph, draw(random));
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    EXPECT_TRUE(made.bound_is_exact);
    EXPECT_EQ(made.steps(), made.bound + made.forced);
    ratios.push_back(static_cast<double>(made.steps()) / static_cast<double>(made.bound));
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[kMinibatches / 2], 1.15);
  EXPECT_LE(ratios.back(), 1.25);
}

template <class T>
const T& any_of(const std::vector<T>& items, Random& random) {
  return items[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(items.size())))];
}

struct TreeStatistics {
  double leaves = 0;  // all three: means
  double nodes = 0;
  double height = 0;
  std::size_t most_nodes = 0;
  std::int32_t most_height = 0;
};

TreeStatistics statistics(const std::vector<BinaryTree>& trees) {
  TreeStatistics result;
  for (const BinaryTree& tree : trees) {
    result.leaves += static_cast<double>(std::count_if(tree.begin(), tree.end(), is_leaf));
    result.nodes += static_cast<double>(tree.size());
    result.height += height_of(tree);
    result.most_nodes = std::max(result.most_nodes, tree.size());
    result.most_height = std::max(result.most_height, height_of(tree));
  }
  const auto count = static_cast<double>(trees.size());
  result.leaves /= count;
  result.nodes /= count;
  result.height /= count;
  return result;
}

// What was counted on the training part of the Stanford Sentiment Treebank.
void expect_sentiment_trees(const TreeStatistics& counted, double tolerance) {
  EXPECT_NEAR(counted.leaves, 19.1, 19.1 * tolerance);
  EXPECT_NEAR(counted.nodes, 37.3, 37.3 * tolerance);
  EXPECT_NEAR(counted.height, 10.8, 10.8 * tolerance);
  EXPECT_EQ(counted.most_nodes, 103);
  EXPECT_NEAR(counted.most_height, 30, 30 * 5 * tolerance);
}

TEST(Counts, DrawnTreesAreLikeThoseOfTheSentimentTreebank) {
  Random random(1);
  std::vector<BinaryTree> trees(8544);
  for (BinaryTree& tree : trees) tree = random_tree(random);
  expect_sentiment_trees(statistics(trees), 0.03);
}

// ED-Batch's lattices: 44 characters on average, at most 211, 23 words, at most five arcs into a place.
TEST(Counts, DrawnLatticesAreLikeThoseOfChineseSentences) {
  Random random(1);
  double characters = 0;
  double words = 0;
  std::int32_t longest = 0;
  std::int64_t most_arcs = 0;
  constexpr int kCount = 2000;
  for (int l = 0; l < kCount; ++l) {
    const Lattice lattice = random_lattice(random);
    characters += lattice.characters;
    words += static_cast<double>(lattice.words.size());
    longest = std::max(longest, lattice.characters);
    for (const Lattice::Word& word : lattice.words)
      most_arcs = std::max(most_arcs, 1 + std::count_if(lattice.words.begin(), lattice.words.end(),
                                                        [&](const auto& other) { return other.end == word.end; }));
  }
  EXPECT_NEAR(characters / kCount, 44, 1.5);
  EXPECT_NEAR(words / kCount, 23, 1);
  EXPECT_EQ(longest, 211);
  EXPECT_LE(most_arcs, 5);
}

TEST(Counts, DrawnSentimentTreesTakeNoMoreStepsThanTheBound) { expect_the_bound(random_tree); }

TEST(Counts, DrawnWordLatticesTakeFewStepsBeyondTheBound) { expect_few_steps_beyond_the_bound(random_lattice); }

// A node for each op: 17 signatures, ten of which depend on each other.
TEST(Counts, TreesByOpsTakeFewStepsBeyondTheBound) {
  for (std::uint64_t seed = 1; seed <= kMinibatches; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    const SmallGraph graph = random_op_treebank(random, kTrees);
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    EXPECT_TRUE(made.bound_is_exact);
    EXPECT_LE(made.steps() * 100, made.bound * 110);
    EXPECT_LT(made.steps(), steps(Strategy::kDepth, graph));
    EXPECT_LT(made.steps(), steps(Strategy::kAgenda, graph));
  }
}

TEST(Counts, RealSentimentTreesTakeNoMoreStepsThanTheBound) {
  const std::filesystem::path folder = testing::data_folder();
  if (folder.empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const std::vector<BinaryTree> trees = real_trees(folder);
  ASSERT_EQ(trees.size(), 8544U);
  expect_sentiment_trees(statistics(trees), 0.005);
  expect_the_bound([&](Random& random) { return any_of(trees, random); });
}

TEST(Counts, RealWordLatticesTakeFewStepsBeyondTheBound) {
  const std::filesystem::path folder = testing::data_folder();
  if (folder.empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const std::vector<Lattice> lattices = real_lattices(folder);
  ASSERT_EQ(lattices.size(), 3821U);
  double words = 0;
  for (const Lattice& lattice : lattices) words += static_cast<double>(lattice.words.size());
  EXPECT_NEAR(words / static_cast<double>(lattices.size()), 13.7, 0.1);
  expect_few_steps_beyond_the_bound([&](Random& random) { return any_of(lattices, random); });
}

}  // namespace
}  // namespace espalier::batch
