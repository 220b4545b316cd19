/// Every strategy, with and without memoisation, must give the values and gradients of the reference twin, whatever is
/// asked for in whatever order.
#include <functional>

#include "tests/exec/random_runs.h"

namespace espalier {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the tests are about these

/// What is asked of a graph, after or while it is recorded; the number chooses the details.
using Script = std::function<Outcome(RandomNet&, Graph&, const Recipe&, std::uint32_t draw)>;

void expect_all_ways_agree(const Recipe& recipe, std::uint32_t draw, DType dtype, const Script& script,
                           bool training = true) {
  const auto run = [&](GraphOptions options) {
    options.training = training;
    RandomNet net(kNetSeed, dtype, recipe.width());
    Graph graph(options);
    Outcome outcome = script(net, graph, recipe, draw);
    if (options.execution == Execution::kKernels) expect_sound(graph.statistics(), text_of(options));
    return outcome;
  };
  const Outcome expected = run({.seed = 3, .dtype = dtype, .execution = Execution::kPlain});
  for (const GraphOptions& options : ways(draw, dtype))
    expect_close(run(options), expected, dtype == DType::kFloat32 ? kFloatTolerance : kDoubleTolerance,
                 text_of(options));
}

void expect_all_ways_agree(int share, const Script& script) {
  EXPECT_TRUE(holds(share, [&](const Recipe& recipe, std::uint32_t draw) {
    const DType dtype = choice(draw, 50, 3) == 0 ? DType::kFloat64 : DType::kFloat32;
    expect_all_ways_agree(recipe, draw, dtype, script);
  }));
}

Outcome backward_at_once(RandomNet& net, Graph& graph, const Recipe& recipe, std::uint32_t draw) {
  const RandomGraph recorded = record(graph, net, recipe);
  const std::vector<Expr> wanted = wanted_nodes(graph, recorded, draw);
  Gradients gradients;
  recorded.loss.backward({.into = &gradients, .wanted = wanted});
  Outcome outcome;
  add_gradients(outcome, net, gradients);
  add_gradients(outcome, wanted);
  outcome.values.push_back(recorded.loss.value());
  add_values(outcome, graph);
  return outcome;
}

TEST(Equivalence, BackwardAtOnce) { expect_all_ways_agree(2500, backward_at_once); }

TEST(Equivalence, ValuesReadWhileTheGraphIsRecorded) {
  expect_all_ways_agree(2000, [](RandomNet& net, Graph& graph, const Recipe& recipe, std::uint32_t draw) {
    Outcome outcome;
    std::uint32_t moves = 0;
    const std::uint32_t one_in = 1 + choice(draw, 60, 12);
    const auto read_some = [&](const Expr& newest) {
      if (choice(draw, 1000 + moves++, one_in) != 0) return;
      outcome.values.push_back(newest.value());
      const auto any = static_cast<std::int32_t>(choice(draw, 5000 + moves, static_cast<std::uint32_t>(graph.size())));
      outcome.values.push_back(graph.expr(NodeId{any}).value());
    };
    const RandomGraph recorded = record(graph, net, recipe, read_some);
    const std::vector<Expr> wanted = wanted_nodes(graph, recorded, draw);
    Gradients gradients;
    recorded.loss.backward({.into = &gradients, .wanted = wanted});
    add_gradients(outcome, net, gradients);
    add_gradients(outcome, wanted);
    add_values(outcome, graph);
    return outcome;
  });
}

TEST(Equivalence, GradientsTakenWhileTheGraphIsRecorded) {
  expect_all_ways_agree(1500, [](RandomNet& net, Graph& graph, const Recipe& recipe, std::uint32_t draw) {
    Outcome outcome;
    Gradients gradients;
    std::uint32_t moves = 0;
    const std::uint32_t one_in = 5 + choice(draw, 60, 20);
    const auto differentiate_some = [&](const Expr& newest) {
      if (choice(draw, 1000 + moves++, one_in) != 0) return;
      const Expr loss = newest.shape().rank() == 0 ? newest : sum_elements(tanh(newest));
      loss.backward({.into = &gradients, .wanted = {newest}});
      outcome.values.push_back(loss.value());
    };
    const RandomGraph recorded = record(graph, net, recipe, differentiate_some);
    recorded.loss.backward({.into = &gradients, .wanted = {}});
    add_gradients(outcome, net, gradients);
    add_values(outcome, graph);
    return outcome;
  });
}

TEST(Equivalence, SeveralOutputs) {
  expect_all_ways_agree(1500, [](RandomNet& net, Graph& graph, const Recipe& recipe, std::uint32_t draw) {
    const RandomGraph recorded = record(graph, net, recipe);
    Outcome outcome;
    Gradients gradients;
    if (choice(draw, 70, 2) == 0) graph.keep(recorded.outputs[choice(draw, 71, 2)]);
    for (const Expr& loss : recorded.losses) loss.backward({.into = &gradients, .wanted = recorded.inputs});
    add_gradients(outcome, recorded.inputs);  // of the last
    for (const Expr& output : recorded.outputs) outcome.values.push_back(output.value());
    recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
    add_gradients(outcome, net, gradients);
    add_gradients(outcome, recorded.inputs);
    add_values(outcome, graph);
    return outcome;
  });
}

TEST(Equivalence, ClearedGraphsAreUsedAgain) {
  expect_all_ways_agree(1000, [](RandomNet& net, Graph& graph, const Recipe& recipe, std::uint32_t draw) {
    Recipe other = recipe;
    other.topology = Topology{choice(draw, 61, 4)};
    for (int round = 0; round < 2; ++round) {
      Gradients unread;
      const RandomGraph recorded =
          record(graph, net, choice(draw, 62 + static_cast<std::uint32_t>(round), 2) == 0 ? recipe : other);
      if (choice(draw, 64, 2) == 0) graph.keep(recorded.outputs[0]);
      if (choice(draw, 65, 2) == 0) recorded.outputs[1].value();
      if (choice(draw, 66, 2) == 0) recorded.loss.backward({.into = &unread, .wanted = {}});
      if (choice(draw, 67, 2) == 0) graph.finish({recorded.loss});
      graph.clear();
    }
    return backward_at_once(net, graph, recipe, draw);
  });
}

TEST(Equivalence, FinishedGraphs) {
  const Script script = [](RandomNet& net, Graph& graph, const Recipe& recipe, std::uint32_t draw) {
    const RandomGraph recorded = record(graph, net, recipe);
    Outcome outcome;
    if (choice(draw, 80, 4) == 0) outcome.values.push_back(recorded.outputs[0].value());
    if (choice(draw, 81, 4) == 0) graph.keep(recorded.outputs[1]);
    std::vector<Expr> outputs = recorded.losses;
    if (choice(draw, 82, 2) == 0) outputs = recorded.outputs;
    if (choice(draw, 83, 2) == 0) outputs.push_back(recorded.loss);
    graph.finish(outputs);
    for (const Expr& output : outputs) outcome.values.push_back(output.value());
    add_values(outcome, graph);  // what was freed is computed again
    return outcome;
  };
  EXPECT_TRUE(holds(2000, [&](const Recipe& recipe, std::uint32_t draw) {
    const DType dtype = choice(draw, 50, 3) == 0 ? DType::kFloat64 : DType::kFloat32;
    expect_all_ways_agree(recipe, draw, dtype, script, choice(draw, 51, 2) == 0);
  }));
}

TEST(Equivalence, KernelsAgreeWithFloat64) {
  EXPECT_TRUE(holds(500, [](const Recipe& recipe, std::uint32_t draw) {
    const auto run = [&](const GraphOptions& options) {
      RandomNet net(kNetSeed, options.dtype, recipe.width());
      Graph graph(options);
      return backward_at_once(net, graph, recipe, draw);
    };
    expect_close(run({.seed = 3}), run({.seed = 3, .dtype = DType::kFloat64}), kFloatTolerance, "frontier");
  }));
}

/// The generator must reach what it promises.
TEST(RandomGraphs, UseMostOps) {
  RandomNet net(kNetSeed);
  std::vector<std::string> seen;
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    Recipe recipe{testing::Topology{static_cast<std::uint32_t>(round % 4)}, {{}}};
    for (int i = 0; i < 40; ++i)
      recipe.instances[0].push_back({random.next(), random.next(), random.next(), random.next()});
    Graph graph({.seed = 3});
    testing::record(graph, net, recipe);
    for (std::int32_t i = 0; i < graph.size(); ++i) {
      const std::string name(graph.signature(NodeId{i}).info->name);
      if (std::find(seen.begin(), seen.end(), name) == seen.end()) seen.push_back(name);
    }
  }
  std::string missing;
  for (std::int32_t i = 0; i < op_count(); ++i) {
    const std::string name(op_info(OpId{i}).name);
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) missing += name + " ";
  }
  EXPECT_GE(seen.size(), 50U) << "not used: " << missing;
}

}  // namespace
}  // namespace espalier
