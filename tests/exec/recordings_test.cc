/// Recordings append what was recorded before: the function is not called again, and the numbers are the same, bit for
/// bit.
#include "espalier/graph/recordings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/fc.h"
#include "espalier/nn/fractal_net.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/all.h"
#include "espalier/optim/sgd.h"
#include "tests/exec/mixed_graph.h"
#include "tests/exec/small_model.h"
#include "tests/support/random_trees.h"
#include "tests/support/refusal.h"

namespace espalier::kept {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the tests are about these

/// Records instances of a recipe, in this order, anew or through `recordings`.
struct RecipeRun {
  const MixedNet& net;
  const MixedRecipe& recipe;
  const MixedFunctions& functions;
  Recordings* recordings = nullptr;
  int calls = 0;

  /// All results, and the gradients.
  Outcome run(Graph& graph, const std::vector<std::size_t>& order) {
    MixedRecorder recorder(graph, net, recipe, functions);
    std::vector<Expr> losses;
    std::vector<Expr> results;
    for (const std::size_t i : order) {
      graph.begin_instance(i);
      std::vector<Expr> outputs;
      const auto make = [&](std::vector<Expr>& to) {
        ++calls;
        const std::size_t before = recorder.recorded().results.size();
        recorder.record_instance(i);
        const std::vector<Expr>& all = recorder.recorded().results;
        to.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
        to.push_back(recorder.recorded().losses.back());
      };
      if (recordings != nullptr)
        recordings->record(graph, i, make, outputs);
      else
        make(outputs);
      losses.push_back(outputs.back());
      results.insert(results.end(), outputs.begin(), outputs.end());
    }
    Gradients gradients;
    total(recipe.plan, losses).backward({.into = &gradients, .wanted = {}});
    Outcome outcome;
    for (const Expr& result : results) outcome.values.push_back(result.value());
    for (const Parameter* parameter : net.model.parameters())
      if (const Gradient* gradient = gradients.find(*parameter)) {
        outcome.what.push_back(parameter->name());
        outcome.gradients.push_back(gradient->to_tensor());
      }
    return outcome;
  }
};

TEST(Recordings, OfRandomGraphsGiveTheSameBits) {
  int graphs = 0;
  int refused = 0;
  EXPECT_TRUE(holds(400, [&](const MixedRecipe& recipe, std::uint32_t draw) {
    if (recipe.plan.joint()) return;  // instances that use each other's nodes cannot be kept
    ++graphs;
    GraphOptions options{.seed = 3, .step = 5, .dtype = draw % 8 == 0 ? DType::kFloat64 : DType::kFloat32};
    options.training = draw % 5 != 0;
    options.expand_cells = draw % 4 == 0;
    options.memoise = testing::kMemoise[draw % 3];
    const MixedNet net(kNetSeed, options.dtype, recipe.width());
    const MixedFunctions functions(net, recipe);
    std::vector<std::size_t> order(recipe.instances());
    std::iota(order.begin(), order.end(), 0);
    Recordings recordings;
    Graph first(options);
    RecipeRun kept{net, recipe, functions, &recordings};
    try {
      kept.run(first, order);
    } catch (const UsageError& refusal) {  // a cell with a dropout that no result depends on
      RC_ASSERT(std::string(refusal.what()).find("the function draws random numbers") != std::string::npos);
      ++refused;
      return;
    }
    RC_ASSERT(kept.calls == static_cast<int>(order.size()));
    // Another step, another order; the same graph, cleared, or a new one.
    std::reverse(order.begin(), order.end());
    options.step = {};
    Graph other(options);
    Graph* graph = &other;
    if (draw % 2 == 0) {
      first.clear();
      first.set_step(9);
      graph = &first;
    } else {
      other.set_step(9);
    }
    const Outcome again = kept.run(*graph, order);
    RC_ASSERT(kept.calls == static_cast<int>(order.size()));
    RC_ASSERT(recordings.size() == std::ssize(order));
    Graph fresh(options);
    fresh.set_step(9);
    RecipeRun anew{net, recipe, functions};
    const Outcome expected = anew.run(fresh, order);
    RC_ASSERT(again.what == expected.what);
    RC_ASSERT((again.values == expected.values));
    RC_ASSERT((again.gradients == expected.gradients));
    RC_ASSERT(graph->statistics().steps == fresh.statistics().steps);
    RC_ASSERT(graph->statistics().bytes_copied == fresh.statistics().bytes_copied);
  }));
  EXPECT_LT(refused, graphs / 4);
}

/// Weights after some epochs of shuffled minibatches; `calls` counts the recorded instances.
std::vector<Tensor> train(Recordings* recordings, int& calls, std::vector<std::int64_t>& steps) {
  SentimentNet net(16);
  const std::vector<RandomTree> trees = random_trees(7, 24, SentimentNet::kWords);
  optim::Sgd sgd(net.model, {.learning_rate = 0.1});
  Graph graph;
  std::vector<std::size_t> order(trees.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    random.shuffle(std::span<std::size_t>(order));
    for (std::size_t begin = 0; begin < order.size(); begin += 8) {
      graph.clear();
      std::vector<Expr> losses;
      for (std::size_t k = begin; k < begin + 8; ++k) {
        graph.begin_instance(order[k]);
        const auto make = [&] {
          ++calls;
          return net.loss_of(graph, trees[order[k]], true);
        };
        losses.push_back(recordings != nullptr ? recordings->record(graph, order[k], make) : make());
      }
      sgd.minimise(sum(losses));
      steps.push_back(graph.statistics().steps);
    }
  }
  std::vector<Tensor> weights;
  for (const Parameter* parameter : net.model.parameters()) weights.push_back(parameter->value());
  return weights;
}

TEST(Recordings, OfAnEpochServeAllLaterEpochs) {
  Recordings recordings;
  int calls = 0;
  std::vector<std::int64_t> steps;
  const std::vector<Tensor> kept = train(&recordings, calls, steps);
  EXPECT_EQ(calls, 24);
  EXPECT_EQ(recordings.size(), 24);
  EXPECT_GT(recordings.memory(), 0);
  int calls_anew = 0;
  std::vector<std::int64_t> steps_anew;
  EXPECT_EQ(train(nullptr, calls_anew, steps_anew), kept);
  EXPECT_EQ(calls_anew, 3 * 24);
  EXPECT_EQ(steps, steps_anew);
  EXPECT_NE(std::vector(steps.begin(), steps.begin() + 3), std::vector(steps.begin() + 3, steps.begin() + 6))
      << "minibatches are put together anew";
}

class KeptInstances : public SmallModel {};

TEST_F(KeptInstances, HaveTheSourceLinesAndThePlaceOfTheFirst) {
  Recordings recordings;
  Graph graph;
  std::vector<std::string> nodes;
  for (int round = 0; round < 2; ++round) {
    graph.clear();
    graph.parameter(W);
    graph.begin_instance(4);
    recordings.record(graph, 4, [&] { return tanh(linear(graph.input({6}, {1, 2, 3, 4, 5, 6}), W)); });
    nodes.push_back(graph.list_nodes());
  }
  EXPECT_EQ(nodes[0], nodes[1]);
}

TEST_F(KeptInstances, ShareWhatIsDerivedFromParameters) {
  const nn::FC layer(model / "fc", 6, 6, {.weight_norm = true});
  Recordings recordings;
  Graph graph;
  std::vector<std::int32_t> sizes;
  std::vector<Tensor> values;
  for (int round = 0; round < 2; ++round) {
    graph.clear();
    std::vector<Expr> all;
    for (std::uint64_t i = 0; i < 3; ++i) {
      graph.begin_instance(i);
      all.push_back(
          recordings.record(graph, i, [&] { return layer(lookup(graph, table, static_cast<std::int32_t>(i))); }));
    }
    values.push_back(sum(all).value());
    sizes.push_back(graph.size());
  }
  EXPECT_EQ(sizes[0], sizes[1]);
  EXPECT_EQ(values[0], values[1]);
}

TEST_F(KeptInstances, AreRecordedAnewForAParameterOfAnotherShape) {
  Recordings recordings;
  Graph graph;
  int calls = 0;
  const auto value = [&] {
    graph.clear();
    graph.begin_instance();
    const auto make = [&] {
      ++calls;
      return linear(graph.input({6}, {1, 2, 3, 4, 5, 6}), V);
    };
    return recordings.record(graph, 0, make).shape();
  };
  EXPECT_EQ(value(), Shape{6});
  V.mutable_value() = Tensor({6, 5});
  EXPECT_EQ(value(), Shape{5});
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(value(), Shape{5});
  EXPECT_EQ(calls, 2);
}

TEST_F(KeptInstances, StayValidInGraphsWhenTheRecordingsAreGone) {
  Graph graph;
  Expr x;
  {
    Recordings recordings;
    for (int round = 0; round < 2; ++round) {
      graph.clear();
      graph.begin_instance();
      x = recordings.record(graph, 0, [&] { return tanh(graph.input({2}, {1, 2})); });
    }
  }
  EXPECT_EQ(x.value(), tanh(graph.input({2}, {1, 2})).value());
}

TEST_F(KeptInstances, DifferInTrainingAndInEvaluation) {
  Recordings recordings;
  int calls = 0;
  for (int round = 0; round < 2; ++round)
    for (const bool training : {true, false}) {
      Graph graph({.training = training});
      graph.begin_instance();
      const auto make = [&] {
        ++calls;
        return dropout(graph.input({2}, {1, 2}), 0.5);
      };
      const Expr x = recordings.record(graph, 0, make);
      EXPECT_EQ(graph.size(), training ? 2 : 1);
      EXPECT_EQ(x.shape(), Shape{2});
    }
  EXPECT_EQ(calls, 2);
}

TEST_F(KeptInstances, MayUseNothingThatWasRecordedBefore) {
  Recordings recordings;
  Graph graph;
  const Expr before = graph.input({6}, {1, 2, 3, 4, 5, 6});
  graph.begin_instance();
  const std::string refusal = refusal_of([&] { recordings.record(graph, 0, [&] { return tanh(before); }); });
  EXPECT_NE(refusal.find("recordings: node 1 = tanh(node 0) uses a node that was recorded before: node 0 = input"),
            std::string::npos)
      << refusal;
  const std::string instances = refusal_of([&] {
    recordings.record(graph, 0, [&] {
      graph.begin_instance();
      return tanh(graph.constant(1));
    });
  });
  EXPECT_NE(instances.find("began an instance of its own"), std::string::npos) << instances;
  EXPECT_EQ(recordings.size(), 0);
}

TEST_F(KeptInstances, MayNotDependOnRandomNumbers) {
  const nn::FractalNet net(
      model / "net",
      [](const Scope& scope) { return [layer = nn::Linear(scope, 6, 6)](Operand x) { return layer(x); }; },
      {.depth = 2, .drop_path = true});
  Recordings recordings;
  Graph graph;
  graph.begin_instance();
  const std::string refusal =
      refusal_of([&] { recordings.record(graph, 0, [&] { return net(lookup(graph, table, 1)); }); });
  EXPECT_NE(refusal.find("the function draws random numbers that are in no node it records"), std::string::npos)
      << refusal;
}

}  // namespace
}  // namespace espalier::kept
