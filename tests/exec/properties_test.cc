/// What must be true of every minibatch, whatever runs together: shown on random graphs.
#include <numeric>

#include "espalier/base/error.h"
#include "tests/exec/random_runs.h"
#include "tests/support/budget.h"

namespace espalier {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the tests are about these

GraphOptions way(std::uint32_t draw, DType dtype) { return ways(draw, dtype)[choice(draw, 90, kStrategies.size())]; }

double tolerance_of(DType dtype) { return dtype == DType::kFloat32 ? kFloatTolerance : kDoubleTolerance; }

void expect_close(const Gradients& given, const Gradients& expected, double tolerance, const std::string& way) {
  RC_ASSERT(given.all().size() == expected.all().size());
  for (const Gradient* gradient : given.all()) {
    const Gradient* other = expected.find(*gradient->parameter);
    RC_ASSERT(other != nullptr);
    RC_ASSERT(gradient->rows == other->rows);
    testing::expect_close(gradient->values(), other->values(), tolerance, 1 + expected.norm(),
                          [&] { return way + ": gradient of " + gradient->parameter->name(); });
  }
}

TEST(Properties, PermutingTheInstancesPermutesTheValues) {
  EXPECT_TRUE(holds(1000, [](const Recipe& drawn, std::uint32_t draw) {
    const Recipe recipe = drawn.independent();
    const DType dtype = choice(draw, 50, 2) == 0 ? DType::kFloat64 : DType::kFloat32;
    const GraphOptions options = way(draw, dtype);
    std::vector<std::size_t> order(recipe.instances.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    struct Run {
      std::vector<std::vector<Tensor>> results;  // by instance
      Gradients gradients;
    };
    RandomNet net(kNetSeed, dtype, recipe.width());
    const auto run = [&] {
      Run result;
      Graph graph(options);
      const RandomGraph recorded = record(graph, net, recipe, order);
      recorded.loss.backward({.into = &result.gradients, .wanted = recorded.inputs});
      result.results.resize(order.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        for (const Expr& x : {recorded.losses[i], recorded.outputs[2 * i], recorded.outputs[2 * i + 1]})
          result.results[order[i]].push_back(x.value());
      for (const Expr& input : recorded.inputs)
        result.results[order[static_cast<std::size_t>(index_of(graph.instance(input.node())))]].push_back(input.grad());
      return result;
    };
    const Run first = run();
    Random(draw).shuffle(std::span(order));
    const Run second = run();
    expect_close(second.gradients, first.gradients, tolerance_of(dtype), text_of(options));
    for (std::size_t i = 0; i < order.size(); ++i) {
      RC_ASSERT(first.results[i].size() == second.results[i].size());
      for (std::size_t k = 0; k < first.results[i].size(); ++k)
        testing::expect_close(
            second.results[i][k], first.results[i][k], tolerance_of(dtype), 1 + first.gradients.norm(),
            [&] { return text_of(options) + ": result " + std::to_string(k) + " of instance " + std::to_string(i); });
    }
  }));
}

TEST(Properties, GradientsOfTheSumAreTheSumOfThoseOfSingleInstances) {
  EXPECT_TRUE(holds(500, [](const Recipe& drawn, std::uint32_t draw) {
    const Recipe recipe = drawn.independent();
    RandomNet net(kNetSeed, DType::kFloat64, recipe.width());
    Gradients apart;
    double loss = 0;
    for (std::size_t i = 0; i < recipe.instances.size(); ++i) {
      Graph graph({.seed = 3, .dtype = DType::kFloat64, .execution = Execution::kPlain});
      const RandomGraph single = record(graph, net, recipe, std::array{i});
      single.loss.backward({.into = &apart, .wanted = {}});
      loss += single.loss.scalar();
    }
    for (const GraphOptions& options : ways(draw, DType::kFloat64)) {
      Graph graph(options);
      Gradients together;
      const RandomGraph all = record(graph, net, recipe);
      all.loss.backward({.into = &together, .wanted = {}});
      RC_ASSERT(std::abs(all.loss.scalar() - loss) <= kDoubleTolerance * (1 + std::abs(loss)));
      expect_close(together, apart, kDoubleTolerance, text_of(options));
    }
  }));
}

TEST(Properties, BackwardTwiceGivesTwiceTheGradientAndTheSameBits) {
  EXPECT_TRUE(holds(500, [](const Recipe& recipe, std::uint32_t draw) {
    const GraphOptions options = way(draw, DType::kFloat32);
    RandomNet net(kNetSeed, options.dtype, recipe.width());
    Graph graph(options);
    const RandomGraph recorded = record(graph, net, recipe);
    const auto outcome_of = [&] {
      Gradients gradients;
      recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
      Outcome outcome;
      add_gradients(outcome, net, gradients);
      add_gradients(outcome, recorded.inputs);
      add_values(outcome, graph);
      return outcome;
    };
    const Outcome first = outcome_of();
    const Outcome second = outcome_of();
    RC_ASSERT((first.gradients == second.gradients));
    RC_ASSERT((first.values == second.values));
    Gradients twice;
    recorded.loss.backward({.into = &twice, .wanted = {}});
    recorded.loss.backward({.into = &twice, .wanted = {}});
    Outcome sums;
    add_gradients(sums, net, twice);
    for (std::size_t i = 0; i < sums.gradients.size(); ++i) {
      const Tensor& sum = sums.gradients[i];
      const double slack = 1e-5 * (1 + largest_of(sum));
      for (std::int64_t k = 0; k < sum.elements(); ++k)
        if (!(std::abs(sum.at(k) - 2 * first.gradients[i].at(k)) <= slack)) RC_FAIL("gradient of " + sums.what[i]);
    }
  }));
}

TEST(Properties, TheSameProgramTwiceGivesTheSameBits) {
  EXPECT_TRUE(holds(500, [](const Recipe& recipe, std::uint32_t draw) {
    const GraphOptions options = way(draw, DType::kFloat32);
    const auto run = [&] {
      RandomNet net(kNetSeed, options.dtype, recipe.width());
      Graph graph(options);
      const RandomGraph recorded = record(graph, net, recipe);
      Gradients gradients;
      recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
      Outcome outcome;
      add_gradients(outcome, net, gradients);
      add_gradients(outcome, recorded.inputs);
      add_values(outcome, graph);
      return outcome;
    };
    const Outcome first = run();
    const Outcome second = run();
    RC_ASSERT((first.gradients == second.gradients));
    RC_ASSERT((first.values == second.values));
  }));
}

/// Maps, reductions and moves compute a row the same whatever stands around it; products do not.
TEST(Properties, WithoutProductsBatchedValuesAreThoseOfSingleNodesToTheBit) {
  EXPECT_TRUE(holds(500, [](const Recipe& drawn, std::uint32_t draw) {
    Recipe recipe = drawn;
    recipe.products = false;
    const auto run = [&](const GraphOptions& options) {
      RandomNet net(kNetSeed, options.dtype, recipe.width());
      Graph graph(options);
      const RandomGraph recorded = record(graph, net, recipe);
      Outcome outcome;
      outcome.values.push_back(recorded.loss.value());
      add_values(outcome, graph);
      return outcome.values;
    };
    const std::vector<Tensor> single = run({.seed = 3, .strategy = Strategy::kNone, .memoise = Memoise::kOff});
    for (const GraphOptions& options : ways(draw, DType::kFloat32)) {
      const std::vector<Tensor> values = run(options);
      for (std::size_t i = 0; i < values.size(); ++i)
        if (!(values[i] == single[i])) RC_FAIL(text_of(options) + ": value " + std::to_string(i));
    }
  }));
}

TEST(Properties, AMemoryBudgetDividesTheMinibatchAndGivesTheSameGradients) {
  int divided = 0;
  EXPECT_TRUE(holds(500, [&](const Recipe& drawn, std::uint32_t draw) {
    const Recipe recipe = drawn.independent(choice(draw, 91, 2) == 1);
    const DType dtype = choice(draw, 50, 2) == 0 ? DType::kFloat64 : DType::kFloat32;
    GraphOptions options = way(draw, dtype);
    RandomNet net(kNetSeed, dtype, recipe.width());
    Gradients whole;
    double loss = 0;
    Statistics of_whole;
    {
      Graph graph(options);
      const RandomGraph recorded = record(graph, net, recipe);
      recorded.loss.backward({.into = &whole, .wanted = {}});
      loss = recorded.loss.scalar();
      of_whole = graph.statistics();
    }
    RC_ASSERT(of_whole.peak_bytes > 0);
    options.memory_budget = 1 + budget_of(of_whole, 25 + choice(draw, 92, 75));
    Graph graph(options);
    const RandomGraph recorded = record(graph, net, recipe);
    Gradients parts;
    try {
      recorded.loss.backward({.into = &parts, .wanted = {}});
    } catch (const ResourceError& refusal) {
      RC_ASSERT(std::string(refusal.what()).find(std::to_string(options.memory_budget)) != std::string::npos);
      RC_ASSERT(parts.empty());
      // It must be one instance that takes too much, beside what cannot be divided.
      std::int64_t largest = of_whole.peak_bytes - of_whole.node_bytes;
      std::int64_t of_largest = 0;
      options.memory_budget = 0;
      for (std::size_t i = 0; i < recipe.instances.size(); ++i) {
        Graph alone(options);
        record(alone, net, recipe, std::array{i}).loss.backward({.into = &parts, .wanted = {}});
        of_largest = std::max(of_largest, alone.statistics().peak_bytes);
      }
      largest += 2 * of_largest;  // the budget goes by an upper bound
      RC_ASSERT(largest > graph.options().memory_budget);
      return;
    }
    expect_close(parts, whole, tolerance_of(dtype), text_of(options));
    RC_ASSERT(std::abs(recorded.loss.scalar() - loss) <= tolerance_of(dtype) * (1 + std::abs(loss)));
    const Statistics statistics = graph.statistics();
    RC_ASSERT(statistics.peak_bytes <= options.memory_budget);
    divided += statistics.parts > 1 ? 1 : 0;
  }));
  EXPECT_GT(divided, 0);
}

}  // namespace
}  // namespace espalier
