/// minimise() gives the numbers of backward() and step(), whatever parameters are used for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/sgd.h"
#include "tests/support/budget.h"

namespace espalier::optim {
namespace {

/// Records a loss over the parameters of a model, which it finds by name.
using LossOf = std::function<Expr(Graph&, const Model&)>;
using Prepare = std::function<void(Model&)>;

void fill(Model& model) {
  model.add("W", {4, 4}, init::glorot());
  model.add("V", {4, 4}, init::glorot());
  model.add("b", {4}, init::uniform(-0.5, 0.5));
  model.add("g", {4}, init::uniform(0.5, 1));
  model.add("table", {6, 4}, init::glorot());
}

Expr input(Graph& graph, int number) {
  Tensor values({4});
  for (std::int64_t i = 0; i < 4; ++i) values.set(i, static_cast<double>((number * 5 + i * 3) % 7) / 4 - 0.8);
  return graph.input(values);
}

/// Trains two equal models a few steps, one by minimise(), and compares all parameters and what the optimizers keep.
/// The steps are large: an update from numbers that were changed already would show.
template <class Rule, class Options>
void expect_same(const Options& options, const LossOf& loss, const Prepare& prepare = {},
                 const GraphOptions& graph_options = {}) {
  Model by_both(1);
  Model by_one(1);
  for (Model* model : {&by_both, &by_one}) {
    fill(*model);
    if (prepare) prepare(*model);
  }
  Rule both(by_both, options);
  Rule one(by_one, options);
  for (int step = 0; step < 3; ++step) {
    Graph first(graph_options);
    const Expr first_loss = loss(first, by_both);
    first_loss.backward();
    both.step();
    Graph second(graph_options);
    const Expr second_loss = loss(second, by_one);
    one.minimise(second_loss);
    EXPECT_NEAR(second_loss.scalar(), first_loss.scalar(), 1e-4 * std::abs(first_loss.scalar()));
    EXPECT_TRUE(by_one.gradients().empty());
  }
  for (const Parameter* parameter : by_both.parameters()) {
    const Parameter& other = by_one.parameter(parameter->name());
    for (std::int64_t i = 0; i < parameter->value().elements(); ++i)
      ASSERT_NEAR(other.value().at(i), parameter->value().at(i), 1e-4 * (1 + std::abs(parameter->value().at(i))))
          << parameter->name() << ", element " << i;
  }
  EXPECT_EQ(one.steps(), both.steps());
  const NamedTensors state = both.state();
  EXPECT_EQ(one.state().size(), state.size());
  for (const auto& [name, tensor] : state) EXPECT_TRUE(one.state().contains(name)) << name;
  for (const auto& [name, tensor] : state) {
    const bool counts = name.find(".steps") != std::string::npos;
    if (counts) {
      EXPECT_EQ(one.state().at(name), tensor) << name;
    }
  }
}

const SgdOptions kLargeSteps{.learning_rate = 0.5};

Expr two_layers(Graph& graph, const Model& model) {
  std::vector<Expr> losses;
  for (int i = 0; i < 5; ++i) {
    graph.begin_instance();
    const Expr h = tanh(affine(input(graph, i), model.parameter("W"), model.parameter("b")));
    losses.push_back(cross_entropy(linear(h, model.parameter("V")), i % 4));
  }
  return mean(losses);
}

TEST(Minimise, WeightsAndBiasesOfProducts) { expect_same<Sgd>(kLargeSteps, two_layers); }

TEST(Minimise, WeightsThatAreUsedInSeveralPlaces) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    Expr h = input(graph, 1);
    for (int step = 0; step < 4; ++step)
      h = tanh(linear(h, model.parameter("W")) + affine(h, model.parameter("W"), model.parameter("b")));
    return cross_entropy(h, 2);
  });
}

TEST(Minimise, ParametersWhoseGradientReadsThem) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    const Expr g = graph.parameter(model.parameter("g"));
    const Expr h = linear(input(graph, 1) * square(g), model.parameter("W")) * g;
    return cross_entropy(h + graph.parameter(model.parameter("b")), 1);
  });
}

TEST(Minimise, WeightsThatAreAlsoReadElsewhere) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    const Expr decay = scale(sum_elements(square(graph.parameter(model.parameter("W")))), 0.1);
    return cross_entropy(tanh(linear(tanh(linear(input(graph, 3), model.parameter("W"))), model.parameter("W"))), 0) +
           decay;
  });
}

TEST(Minimise, WeightsComputedFromParameters) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    const Expr scaled = graph.parameter(model.parameter("W")) + graph.parameter(model.parameter("V"));
    const Expr h = tanh(affine(input(graph, 2), scaled, model.parameter("b")));
    return cross_entropy(linear(h, model.parameter("V")) + affine(h, scaled, model.parameter("b")), 3);
  });
}

TEST(Minimise, TablesTiedToWeights) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    std::vector<Expr> losses;
    for (int i = 0; i < 6; ++i) {
      const Expr row = lookup(graph, model.parameter("table"), i % 3);
      losses.push_back(sum_elements(square(
          linear(tanh(linear(row, model.parameter("W"))), transpose(graph.parameter(model.parameter("table")))))));
    }
    return mean(losses);
  });
}

TEST(Minimise, Cells) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    const auto step = cell("step", [&](Expr x, Expr h) {
      return tanh(affine(x, model.parameter("W"), model.parameter("b")) + linear(h, model.parameter("V")));
    });
    Expr h = input(graph, 0);
    for (int i = 1; i < 5; ++i) h = step(input(graph, i), h);
    return cross_entropy(mul(h, graph.parameter(model.parameter("g"))), 2);
  });
}

TEST(Minimise, CellsThatReadAParameterInTwoWays) {
  expect_same<Sgd>(kLargeSteps, [](Graph& graph, const Model& model) {
    const auto step = cell("step", [&](Expr x) {
      return tanh(affine(x, model.parameter("W"), model.parameter("b"))) * model.parameter("b");
    });
    return cross_entropy(step(step(input(graph, 1))), 2);
  });
}

TEST(Minimise, FrozenParametersAndRatesOfTheirOwn) {
  expect_same<Sgd>(kLargeSteps, two_layers, [](Model& model) {
    model.parameter("W").frozen = true;
    model.parameter("V").learning_rate_scale = 0.3;
  });
}

TEST(Minimise, ScaledGradients) {
  const auto scale = [](Model& model) { model.set_gradient_scale("V", 0.3); };
  expect_same<Sgd>(kLargeSteps, two_layers, scale);
  expect_same<Sgd>(SgdOptions{.learning_rate = 0.3, .clip_norm = 0.1}, two_layers, scale);
  expect_same<Adam>(AdamOptions{.learning_rate = 0.1}, two_layers, scale);
}

TEST(Minimise, RulesThatDoMoreThanAdd) {
  expect_same<Sgd>(SgdOptions{.learning_rate = 0.3, .momentum = 0.9}, two_layers);
  expect_same<Sgd>(SgdOptions{.learning_rate = 0.3, .weight_decay = 0.1}, two_layers);
  expect_same<Sgd>(SgdOptions{.learning_rate = 0.3, .clip_norm = 0.1}, two_layers);
  expect_same<Adam>(AdamOptions{.learning_rate = 0.1}, two_layers);
}

TEST(Minimise, ABudgetThatDividesTheMinibatch) {
  Graph whole;
  Model model(1);
  fill(model);
  two_layers(whole, model).backward();
  const GraphOptions divided{.memory_budget = testing::budget_of(whole.statistics(), 50)};
  Graph parts(divided);
  two_layers(parts, model).backward();
  ASSERT_GT(parts.statistics().parts, 1);
  expect_same<Sgd>(kLargeSteps, two_layers, {}, divided);
}

TEST(Minimise, TheReferenceTwin) { expect_same<Sgd>(kLargeSteps, two_layers, {}, {.execution = Execution::kPlain}); }

TEST(Minimise, GradientsThatAreThereAlreadyCount) {
  Model by_both(1);
  Model by_one(1);
  for (Model* model : {&by_both, &by_one}) fill(*model);
  Sgd both(by_both, kLargeSteps);
  Sgd one(by_one, kLargeSteps);
  for (Model* model : {&by_both, &by_one}) {
    Graph graph;
    two_layers(graph, *model).backward();
  }
  Graph first;
  two_layers(first, by_both).backward();
  both.step();
  Graph second;
  one.minimise(two_layers(second, by_one));
  for (const Parameter* parameter : by_both.parameters())
    EXPECT_EQ(by_one.parameter(parameter->name()).value(), parameter->value()) << parameter->name();
}

TEST(Minimise, ParametersOfAnotherModelStayAsTheyAre) {
  Model mine(1);
  Model other(2);
  fill(mine);
  fill(other);
  Sgd sgd(mine, kLargeSteps);
  const Tensor before = other.parameter("V").value();
  const Tensor mine_before = mine.parameter("W").value();
  Graph graph;
  sgd.minimise(cross_entropy(linear(tanh(linear(input(graph, 1), mine.parameter("W"))), other.parameter("V")), 1));
  EXPECT_EQ(other.parameter("V").value(), before);
  EXPECT_TRUE(other.gradients().empty());
  EXPECT_NE(mine.parameter("W").value(), mine_before);
}

TEST(Minimise, AGraphOfBeforeTheStepComputesNothingMore) {
  Model model(1);
  fill(model);
  Sgd sgd(model, kLargeSteps);
  Graph graph;
  const Expr h = tanh(linear(input(graph, 1), model.parameter("W")));
  const Expr loss = cross_entropy(h, 1);
  sgd.minimise(loss);
  EXPECT_NO_THROW(loss.scalar());
  EXPECT_THROW(linear(h, model.parameter("W")).value(), UsageError);
}

}  // namespace
}  // namespace espalier::optim
