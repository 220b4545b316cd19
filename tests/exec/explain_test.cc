/// What a graph says about its runs, to the letter.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/budget.h"

namespace espalier {
namespace {

/// "@2" stands for the line of this file two after `line`.
std::string with_lines(const std::string& text, int line) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '@') {
      result += text[i];
      continue;
    }
    result += "explain_test.cc:" + std::to_string(line + text[++i] - '0');
  }
  return result;
}

class ExplainRuns : public ::testing::Test {
 protected:
  Model model;
  Parameter& words = model.add("words", {9, 4}, init::uniform(-1, 1));
  Parameter& V = model.add("a.W", {4, 4}, init::uniform(-1, 1));
  Parameter& W = model.add("b.W", {4, 4}, init::uniform(-1, 1));

  /// sigmoid, tanh, sigmoid beside tanh, sigmoid.
  int record_short_chains(Graph& graph) {
    graph.begin_instance();
    const int line = __LINE__ + 1;
    const Expr a = sigmoid(tanh(sigmoid(graph.input(Tensor({4})))));
    graph.begin_instance();
    const Expr b = sigmoid(tanh(graph.input(Tensor({4}))));
    graph.finish({a, b});
    return line;
  }
};

TEST_F(ExplainRuns, TwoShortChainsMeet) {
  Graph graph;
  const int line = record_short_chains(graph);
  EXPECT_EQ(graph.explain(),
            with_lines(R"(finishing run 1: 5 nodes of 2 instances in 3 steps (bound 3, forced 0), frontier
  step  op       nodes  instances  shared  copied  where
     1  sigmoid      1          1  -            -  @0
     2  tanh         2          2  -            -  @0 and 1 other line
     3  sigmoid      2          2  -            -  @0 and 1 other line
what did not run together, and why:
  sigmoid @0: 2 steps, as 2 nodes wait for each other in a chain
)",
                       line));
}

TEST_F(ExplainRuns, StepsThatAnotherOrderWouldSave) {
  Graph graph({.strategy = Strategy::kDepth});
  const int line = record_short_chains(graph);
  EXPECT_EQ(graph.explain(), with_lines(R"(finishing run 1: 5 nodes of 2 instances in 5 steps (bound 3, forced 2), depth
  step  op       nodes  instances  shared  copied  where
     1  sigmoid      1          1  -            -  @0
     2  tanh         1          1  -            -  @2
     3  sigmoid      1          1  -            -  @2
     4  tanh         1          1  -            -  @0
     5  sigmoid      1          1  -            -  @0
what did not run together, and why:
  sigmoid @0: 3 steps, as 2 nodes wait for each other in a chain; 1 was forced by the order of the other steps
  tanh @0: 2 steps, of which 1 was forced by the order of the other steps
)",
                                        line));
}

TEST_F(ExplainRuns, WithoutBatchingEveryNodeIsAStep) {
  Graph graph({.strategy = Strategy::kNone});
  const int line = record_short_chains(graph);
  EXPECT_EQ(graph.explain(), with_lines(R"(finishing run 1: 5 nodes of 2 instances in 5 steps (bound 3, forced 2), none
  step  op       nodes  instances  shared  copied  where
     1  sigmoid      1          1  -            -  @0
     2  tanh         1          1  -            -  @0
     3  sigmoid      1          1  -            -  @0
     4  tanh         1          1  -            -  @2
     5  sigmoid      1          1  -            -  @2
what did not run together, and why:
  sigmoid @0 and tanh @0: each node is a step of its own, as the strategy is none
)",
                                        line));
}

TEST_F(ExplainRuns, TwoTreesOpByOp) {
  const nn::BinaryTreeLstm cell(model / "cell", 4, 3);
  Graph graph({.expand_cells = true});
  std::vector<Expr> losses;
  const int line = __LINE__ + 3;
  for (int tree = 0; tree < 2; ++tree) {
    graph.begin_instance();
    const auto leaf = [&](int word) { return cell.leaf(lookup(graph, words, word)); };
    const nn::TreeState state = tree == 0 ? cell(leaf(0), leaf(1)) : cell(leaf(2), cell(leaf(1), leaf(0)));
    losses.push_back(dot(state.h, state.h));
  }
  mean(losses).backward({});
  EXPECT_EQ(graph.explain(),
            with_lines(R"(run 1: 27 nodes of 2 instances in 14 steps (bound 14, forced 0), frontier, 24 B copied
  step  op           nodes  instances  shared                       copied  where
     1  lookup           3          2  "words"                           -  @0
     2  affine           3          2  "cell.leaf.W" "cell.leaf.b"       -  @0
     3  lstm_memory      3          2  -                                 -  @0
     4  lstm_output      3          2  -                                 -  @0
     5  concat           2          2  -                              24 B  @1
     6  affine           2          2  "cell.U" "cell.b"                 -  @1
     7  lstm_memory      2          2  -                                 -  @1
     8  lstm_output      2          2  -                                 -  @1
     9  concat           1          1  -                                 -  @1
    10  affine           1          1  "cell.U" "cell.b"                 -  @1
    11  lstm_memory      1          1  -                                 -  @1
    12  lstm_output      1          1  -                                 -  @1
    13  dot              2          2  -                                 -  @2
    14  mean             1      joint  -                                 -  @4
took no step: 24 views (parts of other nodes), 14 merged nodes (equal to others)
what did not run together, and why:
  concat @1, affine @1 and lstm_memory @1: 2 steps each, as 2 nodes wait for each other in a chain
  affine @0 and affine @1: 2 kinds that cannot run together, as W differs ("cell.leaf.W" and "cell.U")
  lstm_memory @0 and lstm_memory @1: 2 kinds that cannot run together, as the number of operands differs (2 and 6)
  lstm_output @0: 3 steps, as 3 nodes wait for each other in a chain
)",
                       line));
}

TEST_F(ExplainRuns, TwoTreesOfCells) {
  const nn::BinaryTreeLstm cell(model / "cell", 4, 3);
  Graph graph;
  std::vector<Expr> losses;
  const int line = __LINE__ + 3;
  for (int tree = 0; tree < 2; ++tree) {
    graph.begin_instance();
    const auto leaf = [&](int word) { return cell.leaf(lookup(graph, words, word)); };
    const nn::TreeState state = tree == 0 ? cell(leaf(0), leaf(1)) : cell(leaf(2), cell(leaf(1), leaf(0)));
    losses.push_back(dot(state.h, state.h));
  }
  mean(losses).backward({});
  EXPECT_EQ(graph.explain(),
            with_lines(R"(run 1: 12 nodes of 2 instances in 6 steps (bound 6, forced 0), frontier, 24 B copied
  step  op              nodes  instances  shared                       copied  where
     1  lookup              3          2  "words"                           -  @0
     2  tree_lstm.leaf      3          2  "cell.leaf.W" "cell.leaf.b"       -  @0
     3  tree_lstm           2          2  "cell.U" "cell.b"              24 B  @1
     4  tree_lstm           1          1  "cell.U" "cell.b"                 -  @1
     5  dot                 2          2  -                                 -  @2
     6  mean                1      joint  -                                 -  @4
took no step: 4 merged nodes (equal to others)
what did not run together, and why:
  tree_lstm @1: 2 steps, as 2 nodes wait for each other in a chain
)",
                       line));
}

TEST_F(ExplainRuns, OtherWeightsAndOtherShapesRunApart) {
  Graph graph;
  std::vector<Expr> sums;
  const int line = __LINE__ + 3;
  for (int i = 0; i < 3; ++i) {
    graph.begin_instance();
    const Expr x = lookup(graph, words, i);
    const Expr h = linear(x, V);
    const Expr both = concat({h, linear(x, W), h});
    sums.push_back(tanh(dot(tanh(h), tanh(slice(both, 0, 4)))) + logsumexp(tanh(slice(both, i, 6 + 2 * i))));
  }
  sum(sums).value();
  EXPECT_EQ(graph.explain(),
            with_lines(R"(run 1: 34 nodes of 3 instances in 15 steps (bound 15, forced 0), frontier, 144 B copied
  step  op         nodes  instances  shared   copied  where
     1  lookup         3          3  "words"       -  @0
     2  linear         3          3  "a.W"         -  @1
     3  linear         3          3  "b.W"         -  @2
     4  concat         3          3  -         144 B  @2
     5  tanh           6          3  -             -  @3
     6  dot            3          3  -             -  @3
     7  tanh           1          1  -             -  @3
     8  tanh           1          1  -             -  @3
     9  tanh           1          1  -             -  @3
    10  tanh           3          3  -             -  @3
    11  logsumexp      1          1  -             -  @3
    12  logsumexp      1          1  -             -  @3
    13  logsumexp      1          1  -             -  @3
    14  add            3          3  -             -  @3
    15  sum            1      joint  -             -  @5
took no step: 6 views (parts of other nodes)
what did not run together, and why:
  tanh @3: 5 kinds that cannot run together, as the shape of x differs ([6], [4], [], [7] and 1 more)
  linear @1 and linear @2: 2 kinds that cannot run together, as W differs ("a.W" and "b.W")
  logsumexp @3: 3 kinds that cannot run together, as the shape of x differs ([6], [7] and [8])
)",
                       line));
  EXPECT_EQ(graph.statistics().bytes_copied, 144);
}

TEST_F(ExplainRuns, WeightsOfEachNodeAreProductsOfTheirOwn) {
  Graph graph;
  std::vector<Expr> sums;
  const int line = __LINE__ + 3;
  for (int i = 0; i < 3; ++i) {
    graph.begin_instance();
    const Expr x = lookup(graph, words, i);
    const Expr own = graph.input(Tensor({4, 4}));
    sums.push_back(linear(x, own));
    sums.push_back(linear(x, V));
  }
  sum(sums).value();
  EXPECT_EQ(graph.explain(), with_lines(R"(run 1: 10 nodes of 3 instances in 4 steps (bound 4, forced 0), frontier
  step  op      nodes  instances  shared   copied  where
     1  lookup      3          3  "words"       -  @0
     2  linear      3          3  -             -  @2
     3  linear      3          3  "a.W"         -  @3
     4  sum         1      joint  -             -  @5
what did not run together, and why:
  linear @2 and linear @3: 2 kinds that cannot run together, as W differs ([4, 4] of each node and "a.W")
  linear @2: a product for each node, as each has W of its own: neither a parameter nor computed from parameters alone
)",
                                        line));
}

TEST_F(ExplainRuns, ComputedWeightsAreShared) {
  Graph graph;
  std::vector<Expr> sums;
  const int line = __LINE__ + 1;
  const Expr tied = tanh(graph.parameter(W));
  for (int i = 0; i < 3; ++i) {
    graph.begin_instance();
    sums.push_back(linear(graph.input(Tensor({4})), tied));
  }
  sum(sums).value();
  EXPECT_EQ(graph.explain(), with_lines(R"(run 1: 5 nodes of 3 instances in 3 steps (bound 3, forced 0), frontier
  step  op      nodes  instances  shared  copied  where
     1  tanh        1     shared  -            -  @0
     2  linear      3          3  node 1       -  @3
     3  sum         1      joint  -            -  @5
)",
                                        line));
}

TEST_F(ExplainRuns, ValuesInBetween) {
  Graph graph;
  const int line = __LINE__ + 3;
  for (int i = 0; i < 2; ++i) {
    graph.begin_instance();
    tanh(linear(lookup(graph, words, i), V)).value();
  }
  EXPECT_EQ(graph.explain(),
            with_lines(R"(runs 1-2, each: 3 nodes of 1 instance in 3 steps (bound 3, forced 0), frontier
  step  op      nodes  instances  shared   copied  where
     1  lookup      1          1  "words"       -  @0
     2  linear      1          1  "a.W"         -  @0
     3  tanh        1          1  -             -  @0
values were asked for one by one: 2 runs, where 1 would do if the instances asked at the same time
  hint: g.compute({a, b}) computes several in one run; tasks do so for all instances (docs/control_flow.md)
what did not run together, and why:
  lookup @0, linear @0 and tanh @0: in 2 runs, as values were asked for in between
)",
                       line));
}

TEST_F(ExplainRuns, RunsThatNeedEachOtherWereAskedForInOrder) {
  Graph graph;
  Expr x = graph.constant({4}, 1);
  for (int i = 0; i < 5; ++i) {
    x = tanh(linear(x, V));
    x.value();
  }
  EXPECT_EQ(graph.explain().find("one by one"), std::string::npos) << graph.explain();
}

TEST_F(ExplainRuns, ValuesOfInstancesInLockstepCouldBeAskedForTogether) {
  std::vector<Expr> states(8);
  const auto begin = [&](Graph& graph) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      graph.begin_instance();
      states[i] = graph.constant({4}, static_cast<double>(i));
    }
  };
  Graph graph;
  begin(graph);
  for (int turn = 0; turn < 3; ++turn)
    for (Expr& state : states) {
      state = tanh(linear(state, V));
      state.value();
    }
  EXPECT_NE(graph.explain().find("one by one: 24 runs, where 3 would do"), std::string::npos) << graph.explain();
  Graph together;
  begin(together);
  for (int turn = 0; turn < 3; ++turn) {
    for (Expr& state : states) state = tanh(linear(state, V));
    together.compute(states);
  }
  EXPECT_EQ(together.explain().find("one by one"), std::string::npos) << together.explain();
  EXPECT_EQ(together.statistics().runs, 3);
  EXPECT_EQ(together.statistics().steps, 6);
}

/// Each turn reads what was computed at the beginning, and nothing of the turn before: but what it reads may depend on
/// the value of that turn.
TEST_F(ExplainRuns, TurnsOfOneInstanceFollowEachOther) {
  Graph graph;
  std::vector<Expr> states;
  for (int i = 0; i < 4; ++i) {
    graph.begin_instance();
    states.push_back(graph.constant({4}, i));
  }
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<Expr> asked;
    for (const Expr& state : states) asked.push_back(tanh(linear(scale(state, turn), V)));
    graph.compute(asked);
  }
  EXPECT_EQ(graph.explain().find("one by one"), std::string::npos) << graph.explain();
}

TEST_F(ExplainRuns, DoublesAreComputedByThePlainCode) {
  Graph graph({.dtype = DType::kFloat64});
  const int line = __LINE__ + 1;
  graph.finish({tanh(graph.constant({4}, 1)), tanh(graph.constant({4}, 2))});
  EXPECT_EQ(graph.explain(), with_lines(R"(finishing run 1: 2 nodes in 1 step (bound 1, forced 0), frontier
  step  op    nodes  instances  shared  copied  where
     1  tanh      2          -  -            -  @0
what did not run together, and why:
  tanh @0: node by node within each step, as float64 is computed by the plain code
)",
                                        line));
}

TEST_F(ExplainRuns, AMillionNodesInAFewLines) {
  Graph graph;
  Expr x = graph.constant({4}, 0.5);
  const int line = __LINE__ + 1;
  for (int i = 0; i < 500'000; ++i) x = tanh(linear(x, V));
  x.value();
  EXPECT_EQ(graph.explain(), with_lines(R"(run 1: 1000000 nodes in 1000000 steps (bound 1000000, forced 0), frontier
  step  op      nodes  instances  shared  copied  where
  steps 1-1000000: 500000 times these 2
        linear      1          -  "a.W"        -  @0
        tanh        1          -  -            -  @0
what did not run together, and why:
  linear @0 and tanh @0: 500000 steps each, as 500000 nodes wait for each other in a chain
)",
                                        line));
}

TEST_F(ExplainRuns, RunsThatAreAlike) {
  Graph graph;
  const int line = __LINE__ + 1;
  for (int i = 0; i < 400; ++i) tanh(linear(lookup(graph, words, i % 9), V)).value();
  EXPECT_EQ(graph.explain(), with_lines(R"(runs 1-9, each: 3 nodes in 3 steps (bound 3, forced 0), frontier
  step  op      nodes  instances  shared   copied  where
     1  lookup      1          -  "words"       -  @0
     2  linear      1          -  "a.W"         -  @0
     3  tanh        1          -  -             -  @0
runs 10-400, each: no step, as all values were there
took no step: 1173 merged nodes (equal to others)
what did not run together, and why:
  lookup @0, linear @0 and tanh @0: in 9 runs, as values were asked for in between
)",
                                        line));
}

TEST_F(ExplainRuns, RunsOfPartsAreNotKept) {
  const auto run = [&](Graph& graph) {
    std::vector<Expr> losses;
    for (int i = 0; i < 20; ++i) {
      graph.begin_instance();
      const Expr h = linear(graph.constant({4}, i), V);
      losses.push_back(dot(h, h));
    }
    sum(losses).backward({});
  };
  Graph unlimited;
  run(unlimited);
  Graph graph({.memory_budget = testing::budget_of(unlimited.statistics(), 50)});
  run(graph);
  ASSERT_GT(graph.statistics().runs, 1);
  EXPECT_EQ(graph.explain(),
            std::to_string(graph.statistics().runs) + " runs are not shown: their values were given up\n");
}

TEST_F(ExplainRuns, WantedGradientsKeepNodesApart) {
  Graph graph;
  const int line = __LINE__ + 1;
  const Expr a = tanh(graph.constant({4}, 1));
  const Expr b = tanh(graph.constant({4}, 2));
  dot(a, b).backward({.wanted = {a}});
  EXPECT_EQ(graph.explain(), with_lines(R"(run 1: 3 nodes in 3 steps (bound 3, forced 0), frontier
  step  op    nodes  instances  shared  copied  where
     1  tanh      1          -  -            -  @0
     2  tanh      1          -  -            -  @1
     3  dot       1          -  -            -  @2
what did not run together, and why:
  tanh @0 and tanh @1: 2 kinds that cannot run together, as the gradients of some are wanted by themselves
)",
                                        line));
}

TEST_F(ExplainRuns, LongReportsAreCut) {
  Graph graph;
  std::vector<Expr> different;
  for (int i = 1; i <= 400; ++i) different.push_back(dot(tanh(graph.constant({i}, 1)), graph.constant({i}, 1)));
  sum(different).value();
  for (int i = 0; i < 300; ++i) sum(std::vector<Expr>(different.begin(), different.end() - i)).value();
  const std::string text = graph.explain();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 200);
  EXPECT_NE(text.find("  and 643 steps more, of 643 nodes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("and 300 more runs, of 300 nodes in 300 steps\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace espalier
