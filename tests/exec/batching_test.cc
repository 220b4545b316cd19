/// What runs together, what is copied, freed, kept and merged: counts that have one right answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/optim/sgd.h"
#include "tests/exec/small_model.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_trees.h"

namespace espalier {
namespace {

using testing::kStrategies;
using testing::random_trees;
using testing::RandomTree;
using testing::SentimentNet;

constexpr std::array kMemoise{Memoise::kOff, Memoise::kLookups, Memoise::kAll};

class Batching : public testing::SmallModel {
 protected:
  /// The gradients that the reference twin gives for what `loss` records, and those of every other way; all must agree.
  template <class Loss>
  void expect_all_ways_agree(const Loss& loss) {
    model.to(DType::kFloat64);
    Gradients expected;
    Graph reference({.dtype = DType::kFloat64, .execution = Execution::kPlain});
    const Expr by_reference = loss(reference);
    by_reference.backward({.into = &expected, .wanted = {}});
    for (const Strategy strategy : kStrategies)
      for (const Memoise memoise : kMemoise) {
        SCOPED_TRACE(std::string(name_of(strategy)) + ", memoise " + std::to_string(static_cast<int>(memoise)));
        Gradients given;
        Graph graph({.dtype = DType::kFloat64, .strategy = strategy, .memoise = memoise});
        const Expr total = loss(graph);
        total.backward({.into = &given, .wanted = {}});
        EXPECT_NEAR(total.scalar(), by_reference.scalar(), 1e-10 * (1 + std::abs(by_reference.scalar())));
        ASSERT_EQ(given.all().size(), expected.all().size());
        for (const Gradient* gradient : given.all()) {
          const Tensor a = gradient->to_tensor();
          const Tensor e = expected.find(*gradient->parameter)->to_tensor();
          for (std::int64_t i = 0; i < a.elements(); ++i)
            EXPECT_NEAR(a.at(i), e.at(i), 1e-10 * (1 + std::abs(e.at(i))))
                << "element " << i << " of " << gradient->parameter->name();
        }
      }
  }
};

// --- what is computed when -------------------------------------------------------------------------------------------

TEST_F(Batching, RecordingGoesOnAfterAValueAndNothingIsComputedTwice) {
  for (const Strategy strategy : kStrategies) {
    Graph graph({.strategy = strategy, .memoise = Memoise::kOff});
    std::vector<Expr> states;
    for (int i = 0; i < 4; ++i) {
      graph.begin_instance();
      states.push_back(tanh(linear(lookup(graph, table, i), W)));
    }
    const Expr first = states[0];
    const Tensor value = first.value();
    const std::int64_t nodes = graph.statistics().nodes;
    EXPECT_EQ(nodes, 3);  // its ancestors only
    for (Expr& state : states) state = tanh(linear(state, V));
    EXPECT_EQ(states[0].value().shape(), (Shape{kWidth}));
    EXPECT_EQ(graph.statistics().nodes, nodes + 2);
    sum_elements(sum(states)).backward();
    EXPECT_EQ(first.value(), value);
  }
}

TEST_F(Batching, FinishFreesWhatValueKeeps) {
  const auto record = [&](Graph& graph) {
    std::vector<Expr> ends;
    for (int i = 0; i < 16; ++i) {
      graph.begin_instance();
      Expr x = lookup(graph, table, i % 9);
      for (int k = 0; k < 100; ++k) x = tanh(linear(x, W));
      ends.push_back(x);
    }
    return sum_elements(sum(ends));
  };
  Graph kept({.memoise = Memoise::kOff});
  const Expr by_value = record(kept);
  const double value = by_value.scalar();
  Graph finished({.memoise = Memoise::kOff});
  const Expr by_finish = record(finished);
  finished.finish({by_finish});
  EXPECT_EQ(by_finish.scalar(), value);
  EXPECT_LT(finished.statistics().node_bytes, kept.statistics().node_bytes / 10);
  // Another node is computed anew, with the same numbers.
  const std::int64_t nodes = finished.statistics().nodes;
  EXPECT_EQ(finished.expr(NodeId{50}).value(), kept.expr(NodeId{50}).value());
  EXPECT_GT(finished.statistics().nodes, nodes);
}

TEST_F(Batching, BackwardFreesWhatItDoesNotRead) {
  const auto peak_of = [&](bool values_first) {
    Graph graph({.memoise = Memoise::kOff});
    Expr x = graph.input(Tensor::filled({1000}, 0.1, DType::kFloat32)) * pick(graph.parameter(b), 0);
    for (int k = 0; k < 100; ++k) x = scale(shift(x, 0.1), 0.5);  // backward reads none of these
    const Expr loss = sum_elements(x);
    if (values_first) loss.value();
    loss.backward();
    return graph.statistics().node_bytes;
  };
  EXPECT_LT(peak_of(false), peak_of(true) / 4);
}

/// What a pass found of its steps points to tables of the graph, which move as it grows.
TEST_F(Batching, ALossMayBeDifferentiatedAgainAfterTheGraphHasGrown) {
  Parameter& p = model.add("p", {3}, init::normal(0, 1));
  Graph graph;
  std::vector<Expr> losses;
  for (int i = 0; i < 8; ++i) {
    const Expr x = p * graph.input({3}, std::vector<float>{1, static_cast<float>(i), -1});
    const Expr both = stack({x, tanh(x)}, 1);  // whose gradient asks for its shape
    losses.push_back(sum_elements(both * both));
  }
  const Expr loss = sum(losses);
  Gradients first;
  loss.backward({.into = &first, .wanted = {}});
  for (int i = 4; i < 300; ++i) graph.constant({i}, 0);
  Gradients second;
  loss.backward({.into = &second, .wanted = {}});
  EXPECT_EQ(first.find(p)->to_tensor(), second.find(p)->to_tensor());
}

TEST_F(Batching, AKeptValueOutlivesFinishAndIsNotComputedAgain) {
  Graph graph;
  const Expr kept = tanh(linear(lookup(graph, table, 1), W));
  Expr x = kept;
  for (int i = 0; i < 10; ++i) x = tanh(linear(x, V));
  const Expr end = sum_elements(x);
  graph.keep(kept);
  graph.finish({end});
  const std::int64_t nodes = graph.statistics().nodes;
  EXPECT_EQ(nodes, 3 + 20 + 1);
  kept.value();
  end.value();
  EXPECT_EQ(graph.statistics().nodes, nodes);
}

TEST_F(Batching, AKeptValueOutlivesBackwardAndTheNextStepOfTheOptimizer) {
  optim::Sgd sgd(model, {.learning_rate = 1});
  Graph graph;
  const Expr h = linear(lookup(graph, table, 1), W);
  const Expr loss = sum_elements(linear(h * 2, V));
  graph.keep(h);
  loss.backward();
  const Tensor before = h.value();
  sgd.step();
  EXPECT_EQ(h.value(), before);
  EXPECT_EQ(loss.value().elements(), 1);
}

TEST_F(Batching, AStaleGraphIsRefusedAfterAStepOfTheOptimizer) {
  for (const Strategy strategy : kStrategies) {
    optim::Sgd sgd(model, {.learning_rate = 0.1});
    Graph graph({.strategy = strategy});
    const Expr x = lookup(graph, table, 1);
    const Expr loss = sum_elements(linear(x, W));
    const Expr later = tanh(linear(x, W));
    loss.backward();
    sgd.step();
    EXPECT_THROW(later.value(), UsageError);
    EXPECT_THROW(loss.backward(), UsageError);
    EXPECT_THROW(graph.finish({later}), UsageError);
    EXPECT_EQ(loss.value().elements(), 1);
    graph.clear();
    EXPECT_EQ(linear(lookup(graph, table, 1), W).value().elements(), kWidth);
  }
}

TEST_F(Batching, AFinishedGraphMayStillBeDifferentiated) {
  for (const Strategy strategy : kStrategies) {
    const auto gradient_of = [&](bool finish_first) {
      Graph graph({.strategy = strategy});
      std::vector<Expr> losses;
      for (int i = 0; i < 4; ++i) {
        graph.begin_instance();
        losses.push_back(sum_elements(tanh(linear(tanh(affine(lookup(graph, table, i), W, b)), V))));
      }
      const Expr loss = sum(losses);
      if (finish_first) graph.finish({loss});
      Gradients gradients;
      loss.backward({.into = &gradients, .wanted = {}});
      return gradients.find(W)->to_tensor();
    };
    EXPECT_EQ(gradient_of(true), gradient_of(false));
  }
}

TEST_F(Batching, FinishRefusesAnotherGraphsNodes) {
  Graph graph;
  Graph other;
  const Expr x = other.constant(1);
  EXPECT_THROW(graph.finish({x}), UsageError);
  EXPECT_THROW(graph.keep(x), UsageError);
}

TEST_F(Batching, OneGraphMayHoldBothElementTypes) {
  Model doubles;
  doubles.to(DType::kFloat64);
  Parameter& U = doubles.add("U", {kWidth, kWidth}, init::uniform(-0.5, 0.5));
  for (const Strategy strategy : kStrategies) {
    Graph graph({.strategy = strategy});
    const Expr single = sum_elements(tanh(linear(graph.input(Tensor::filled({kWidth}, 0.5, DType::kFloat32)), W)));
    const Expr twice = sum_elements(tanh(linear(graph.input(Tensor::filled({kWidth}, 0.5, DType::kFloat64)), U)));
    model.gradients().clear();
    doubles.gradients().clear();
    twice.backward();
    single.backward();
    EXPECT_EQ(model.gradients().find(W)->dense.dtype(), DType::kFloat32);
    EXPECT_EQ(doubles.gradients().find(U)->dense.dtype(), DType::kFloat64);
    double sum = 0;
    for (std::int64_t j = 0; j < kWidth; ++j) {
      double z = 0;
      for (std::int64_t i = 0; i < kWidth; ++i) z += 0.5 * U.value().at(i * kWidth + j);
      sum += std::tanh(z);
    }
    EXPECT_NEAR(twice.scalar(), sum, 1e-14);
  }
}

// --- shared inputs that are computed ---------------------------------------------------------------------------------

TEST_F(Batching, TiedWeightsHaveTheGradientOfBothUses) {
  const auto loss = [&](Graph& graph) {
    std::vector<Expr> losses;
    for (int i = 0; i < 5; ++i) {
      graph.begin_instance();
      Expr x = lookup(graph, table, (i * 3) % 9);
      for (int k = 0; k <= i; ++k) x = tanh(affine(x, W, b) + lookup(graph, table, k));
      losses.push_back(cross_entropy(linear(x, transpose(graph.parameter(table))), i));
    }
    return mean(losses);
  };
  expect_all_ways_agree(loss);
  testing::check_gradients(model, loss);
}

TEST_F(Batching, NormalisedWeightsAreDifferentiatedThroughTheNorm) {
  const auto loss = [&](Graph& graph) {
    const Expr weights = graph.parameter(W);
    const Expr unit = weights / l2_norm(flatten(weights));
    std::vector<Expr> losses;
    for (int i = 0; i < 5; ++i) {
      graph.begin_instance();
      Expr x = lookup(graph, table, i % 3);
      for (int k = 0; k <= i; ++k) x = tanh(linear(x, unit) + linear(x, V));
      losses.push_back(testing::asymmetric_sum(x));
    }
    return sum_elements(sum(losses));
  };
  expect_all_ways_agree(loss);
  testing::check_gradients(model, loss);
}

TEST_F(Batching, OneComputedMatrixMayBeWeightsTableAndOperand) {
  const auto loss = [&](Graph& graph) {
    const Expr M = tanh(graph.parameter(W));
    std::vector<Expr> losses;
    for (int i = 0; i < 4; ++i) {
      graph.begin_instance();
      const Expr row = lookup(M, i);                                   // a table
      const Expr x = linear(row, M);                                   // weights
      const Expr y = matvec(M, x) + slice(flatten(M), i, i + kWidth);  // weights again, and a part of a row
      losses.push_back(dot(y, linear(y, slice(concat({M, graph.parameter(V)}), 3, 3 + kWidth))));
    }
    return sum(losses);
  };
  expect_all_ways_agree(loss);
  testing::check_gradients(model, loss);
}

TEST_F(Batching, WeightsMadeByAProductOfParametersAreDifferentiated) {
  const auto loss = [&](Graph& graph) {
    const Expr product = matmul(graph.parameter(W), V);
    std::vector<Expr> losses;
    for (int i = 0; i < 4; ++i) {
      graph.begin_instance();
      Expr x = lookup(graph, table, i);
      for (int k = 0; k < 3; ++k) x = tanh(affine(x, product, linear(graph.parameter(b), W)));
      losses.push_back(testing::asymmetric_sum(x));
    }
    return sum_elements(mean(losses));
  };
  expect_all_ways_agree(loss);
  testing::check_gradients(model, loss);
}

TEST_F(Batching, AComputedSharedVectorMayRunBesideVectorsOfInstances) {
  const auto loss = [&](Graph& graph) {
    const Expr word = lookup(graph, table, 0);
    const Expr x = word + tanh(graph.parameter(b));         // tanh of a parameter
    return testing::asymmetric_sum(mean({tanh(word), x}));  // and of an instance, in one step
  };
  const auto in_float32 = [&](const GraphOptions& options) {
    Gradients gradients;
    Graph graph(options);
    loss(graph).backward({.into = &gradients, .wanted = {}});
    return gradients.find(b)->to_tensor();
  };
  const Tensor expected = in_float32({.execution = Execution::kPlain});
  for (const Strategy strategy : kStrategies) {
    const Tensor given = in_float32({.strategy = strategy});
    for (std::int64_t i = 0; i < given.elements(); ++i) EXPECT_NEAR(given.at(i), expected.at(i), 1e-6);
  }
  expect_all_ways_agree(loss);
}

// --- counts ----------------------------------------------------------------------------------------------------------

TEST_F(Batching, IndependentInstancesRunInOneStepAKind) {
  for (const Strategy strategy : {Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier}) {
    Graph graph({.strategy = strategy, .memoise = Memoise::kOff});
    std::vector<Expr> losses;
    for (int i = 0; i < 8; ++i) {
      graph.begin_instance();
      const Expr gates = affine(lookup(graph, table, i), W, b);
      const Expr half = slice(gates, 0, kWidth / 2);
      losses.push_back(sum_elements(tanh(half)));
    }
    sum(losses).backward();
    const Statistics statistics = graph.statistics();
    EXPECT_EQ(statistics.nodes, 8 * 4 + 1);  // lookup, affine, tanh, sum of the elements; one sum of all
    EXPECT_EQ(statistics.steps, 5);
    EXPECT_EQ(statistics.bound, 5);
    EXPECT_EQ(statistics.forced, 0);
    EXPECT_EQ(statistics.views, 8);
    EXPECT_EQ(statistics.merged, 0);
    EXPECT_EQ(statistics.runs, 1);
    EXPECT_EQ(statistics.bytes_copied, 0);
  }
}

/// What was merged is known by rows of tables, in lists that outlive a graph's nodes.
TEST_F(Batching, AClearedGraphMergesOnlyWhatItRecordsThen) {
  const Parameter& small = model.add("small", {3, kWidth}, init::uniform(-1, 1));
  const Parameter& large = model.add("large", {50, kWidth}, init::uniform(-1, 1));
  Graph graph;
  for (int round = 0; round < 4; ++round) {
    graph.clear();
    // In turns, so that tables of unlike sizes have the same place among the signatures.
    const Parameter& first = round % 2 == 0 ? small : large;
    const Parameter& second = round % 2 == 0 ? large : small;
    std::vector<Expr> ends;
    for (const int row : {2, round % 3, 2}) ends.push_back(tanh(lookup(graph, first, row)));
    for (const int row : {1, 1, 2}) ends.push_back(tanh(lookup(graph, second, row)));
    const Expr all = sum(ends);
    Graph unmerged({.memoise = Memoise::kOff});
    std::vector<Expr> expected;
    for (const int row : {2, round % 3, 2}) expected.push_back(tanh(lookup(unmerged, first, row)));
    for (const int row : {1, 1, 2}) expected.push_back(tanh(lookup(unmerged, second, row)));
    EXPECT_EQ(all.value(), sum(expected).value());
    EXPECT_EQ(graph.statistics().merged, 2 * (round % 3 == 2 ? 3 : 2));
  }
}

TEST_F(Batching, StrategyNoneRunsOneNodeAStep) {
  Graph graph({.strategy = Strategy::kNone, .memoise = Memoise::kOff});
  std::vector<Expr> ends;
  for (int i = 0; i < 8; ++i) ends.push_back(tanh(lookup(graph, table, i)));
  sum(ends).value();
  const Statistics statistics = graph.statistics();
  EXPECT_EQ(statistics.nodes, 17);
  EXPECT_EQ(statistics.steps, 17);
  EXPECT_EQ(statistics.steps, statistics.bound + statistics.forced);
}

TEST_F(Batching, EveryStrategyTakesTheBoundAndItsForcedSteps) {
  SentimentNet net(8);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<RandomTree> trees = random_trees(seed, 32, SentimentNet::kWords);
    std::int64_t bound = 0;
    for (const Strategy strategy : kStrategies) {
      Graph graph({.strategy = strategy, .memoise = Memoise::kOff});
      net.loss(graph, trees, true).value();
      const Statistics statistics = graph.statistics();
      EXPECT_EQ(statistics.steps, statistics.bound + statistics.forced) << name_of(strategy);
      EXPECT_GE(statistics.forced, 0) << name_of(strategy);
      if (strategy == Strategy::kNone) {
        EXPECT_EQ(statistics.steps, statistics.nodes);
      } else if (bound == 0) {
        bound = statistics.bound;
      } else {
        EXPECT_EQ(statistics.bound, bound) << name_of(strategy);
      }
      if (strategy == Strategy::kFrontier) {
        EXPECT_EQ(statistics.forced, 0) << "seed " << seed;
      }
    }
  }
}

// --- one computation once --------------------------------------------------------------------------------------------

TEST_F(Batching, EqualLookupsAndWhatDependsOnThemAloneAreMerged) {
  for (const Memoise memoise : kMemoise) {
    Graph graph({.memoise = memoise});
    std::vector<Expr> ends;
    for (int i = 0; i < 6; ++i) {
      graph.begin_instance();
      const Expr word = tanh(affine(lookup(graph, table, 2), W, b));
      const Expr own = graph.input(Tensor::filled({kWidth}, i, DType::kFloat32));
      ends.push_back(tanh(word * own));
    }
    sum(ends).value();
    EXPECT_EQ(graph.statistics().merged, memoise == Memoise::kOff ? 0 : 5 * 3);
  }
}

TEST_F(Batching, MemoisingAllMergesWhatHasTheSameInputsAndFields) {
  for (const Memoise memoise : kMemoise) {
    Graph graph({.memoise = memoise});
    const Expr x = graph.input(Tensor::filled({kWidth}, 0.5, DType::kFloat32));
    const Expr same = tanh(x * 2) + tanh(x * 2);               // two nodes merge with two others
    const Expr other = tanh(x * 3) + pick(x, 0) + pick(x, 1);  // fields differ: none of these is equal
    sum({same, other}).value();
    EXPECT_EQ(graph.statistics().merged, memoise == Memoise::kAll ? 2 : 0);
  }
}

TEST_F(Batching, MasksOfDropoutAreNeverMerged) {
  for (const Memoise memoise : kMemoise) {
    Graph graph({.seed = 1, .memoise = memoise});
    std::vector<Expr> dropped;
    for (int i = 0; i < 2; ++i) {
      graph.begin_instance();
      const Expr word = lookup(graph, table, 3);
      dropped.push_back(dropout(concat({word, word, word, word, word}), 0.5));
      dropped.push_back(dropout(concat({word, word, word, word, word}), 0.5));
    }
    sum(dropped).value();
    for (std::size_t i = 0; i < dropped.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) EXPECT_NE(dropped[i].value(), dropped[k].value()) << i << " and " << k;
  }
}

TEST_F(Batching, MergedNodesHaveTheGradientOfAllTheyStandFor) {
  const auto loss = [&](Graph& graph) {
    std::vector<Expr> losses;
    for (int i = 0; i < 6; ++i) {
      graph.begin_instance();
      const Expr word = tanh(affine(lookup(graph, table, i % 2), W, b));
      losses.push_back(testing::asymmetric_sum(tanh(linear(word, V) * (i + 1.0))));
    }
    return sum_elements(sum(losses));
  };
  expect_all_ways_agree(loss);
  testing::check_gradients(model, loss);
}

TEST_F(Batching, AMergedNodeMayBeWanted) {
  for (const Memoise memoise : kMemoise) {
    Graph graph({.memoise = memoise});
    const Expr first = lookup(graph, table, 2);
    const Expr second = lookup(graph, table, 2);
    sum_elements(first * 2 + second * 3).backward({.into = nullptr, .wanted = {first, second}});
    EXPECT_EQ(first.grad().at(0), 2);
    EXPECT_EQ(second.grad().at(0), 3);
    EXPECT_EQ(model.gradients().find(table)->to_tensor().at(2 * kWidth), 5);
    model.gradients().clear();
  }
}

// --- what is copied --------------------------------------------------------------------------------------------------

TEST_F(Batching, TreesCopyNothingForTheirChildren) {
  constexpr std::int32_t kHidden = 16;
  SentimentNet net(kHidden);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<RandomTree> trees = random_trees(seed, 64, SentimentNet::kWords);
    std::int64_t nodes = 0;
    for (const RandomTree& tree : trees) nodes += static_cast<std::int64_t>(tree.nodes.size());
    for (const Strategy strategy : kStrategies) {
      SCOPED_TRACE(std::string(name_of(strategy)) + ", seed " + std::to_string(seed));
      Graph roots({.strategy = strategy, .memoise = Memoise::kOff});
      net.loss(roots, trees, false).backward();
      EXPECT_EQ(roots.statistics().bytes_copied, 0);
      // A head at every node is a second reader of each state: its operand may be a copy, and nothing else.
      Graph heads({.strategy = strategy, .memoise = Memoise::kOff});
      net.loss(heads, trees, true).backward();
      EXPECT_LE(heads.statistics().bytes_copied, nodes * kHidden * 4);
    }
  }
}

TEST_F(Batching, AValueUsedAThousandLevelsLaterIsNotMovedOnTheWay) {
  for (const Strategy strategy : kStrategies) {
    Graph graph({.strategy = strategy, .memoise = Memoise::kOff});
    std::vector<Expr> ends;
    constexpr int kInstances = 4;
    for (int i = 0; i < kInstances; ++i) {
      graph.begin_instance();
      const Expr first = tanh(lookup(graph, table, i));
      Expr x = first;
      for (int k = 0; k < 1000; ++k) x = tanh(linear(x, W));
      ends.push_back(x * first);
    }
    sum_elements(sum(ends)).backward();
    EXPECT_EQ(graph.statistics().bytes_copied, 0) << name_of(strategy);
    // A second product needs it beside others, once.
    std::vector<Expr> more;
    Graph again({.strategy = strategy, .memoise = Memoise::kOff});
    for (int i = 0; i < kInstances; ++i) {
      again.begin_instance();
      const Expr first = tanh(lookup(again, table, i));
      Expr x = first;
      for (int k = 0; k < 1000; ++k) x = tanh(linear(x, W));
      more.push_back(x + linear(first, V));
    }
    sum_elements(sum(more)).backward();
    EXPECT_LE(again.statistics().bytes_copied, kInstances * kWidth * 4) << name_of(strategy);
  }
}

// --- views -----------------------------------------------------------------------------------------------------------

TEST_F(Batching, PartsOfRowsMayBeWantedAndRead) {
  for (const Strategy strategy : kStrategies) {
    Graph graph({.strategy = strategy});
    const Expr x = graph.input(Tensor({6}, {1, 2, 3, 4, 5, 6}));
    const Expr left = slice(x, 0, 4);
    const Expr right = slice(left, 2, 4);
    const Expr matrix = reshape(x, {2, 3});
    sum_elements(concat({left * 2, right * 3, flatten(matrix) * x, left}))
        .backward({.into = nullptr, .wanted = {x, left, right, matrix}});
    EXPECT_EQ(right.grad(), Tensor({2}, {3, 3}));
    EXPECT_EQ(left.grad(), Tensor({4}, {3, 3, 6, 6}));
    EXPECT_EQ(matrix.grad(), Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(x.grad(), Tensor({6}, {5, 7, 12, 14, 10, 12}));
    EXPECT_EQ(right.value(), Tensor({2}, {3, 4}));
    EXPECT_EQ(matrix.value(), Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  }
}

TEST_F(Batching, APartOfWhatWasFreedIsComputedAnew) {
  for (const Strategy strategy : kStrategies) {
    Graph graph({.strategy = strategy});
    const Expr x = lookup(graph, table, 2);
    const Expr part = slice(x, 1, 4);
    const Expr shape = reshape(part, {3, 1});
    const Expr joined = tanh(shape);
    sum_elements(linear(tanh(concat({x, x})), graph.input(Tensor::filled({2 * kWidth, 1}, 1, DType::kFloat32))))
        .backward();  // x is written into the concatenation, which is then freed
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(part.value().at(i), table.value().at(2 * kWidth + 1 + i));
      EXPECT_EQ(shape.value().at(i), table.value().at(2 * kWidth + 1 + i));
    }
    graph.finish({joined});
    EXPECT_NEAR(joined.value().at(0), std::tanh(table.value().at(2 * kWidth + 1)), 1e-6);
  }
}

TEST_F(Batching, AConcatenationMayHaveOneNodeTwiceAndBePartOfAnother) {
  for (const Strategy strategy : kStrategies) {
    Graph graph({.strategy = strategy});
    const Expr x = graph.input(Tensor({2}, {1, 2}));
    const Expr y = square(x);
    const Expr twice = concat({y, y});
    const Expr nested = concat({twice, y, twice});
    sum_elements(nested * graph.input(Tensor({10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})))
        .backward({.into = nullptr, .wanted = {x, y, twice}});
    EXPECT_EQ(nested.value(), Tensor({10}, {1, 4, 1, 4, 1, 4, 1, 4, 1, 4}));
    EXPECT_EQ(twice.grad(), Tensor({4}, {8, 10, 12, 14}));
    EXPECT_EQ(y.grad(), Tensor({2}, {25, 30}));
    EXPECT_EQ(x.grad(), Tensor({2}, {50, 120}));
  }
}

}  // namespace
}  // namespace espalier
