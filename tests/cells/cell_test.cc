/// What cell() promises: one node a use, the numbers of its function, one step for what is outer.
#include "espalier/cells/cell.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"

namespace espalier {
namespace {

using testing::asymmetric_sum;
using testing::expect_cells_agree;
using testing::LossOf;
using testing::numbers_of;

class CellTest : public testing::SmallModel {
 protected:
  /// An input of width kWidth.
  static Expr input(Graph& graph, int number) {
    Tensor values({kWidth});
    for (std::int64_t i = 0; i < kWidth; ++i) values.set(i, static_cast<double>((number * 5 + i * 3) % 7) / 4 - 0.8);
    return graph.input(values);
  }

  /// A balanced tree of four leaves by a function of two, as one sum.
  template <class F>
  static LossOf tree_of(const F& merge) {
    return [&merge](Graph& graph, std::vector<Expr>& inputs) {
      for (int i = 0; i < 4; ++i) inputs.push_back(input(graph, i));
      return asymmetric_sum(merge(merge(inputs[0], inputs[1]), merge(inputs[2], inputs[3])));
    };
  }

  std::int32_t nodes_named(const Graph& graph, std::string_view name) const {
    std::int32_t count = 0;
    for (std::int32_t i = 0; i < graph.size(); ++i)
      if (graph.signature(NodeId{i}).info->name == name) ++count;
    return count;
  }
};

TEST_F(CellTest, AUseIsOneNode) {
  const auto merge = cell("merge", [&](Expr left, Expr right) {
    return tanh(affine(concat({left, right - left}), table, b));
  });
  Parameter& wide = model.add("wide", {2 * kWidth, kWidth}, init::uniform(-0.5, 0.5));
  const auto wide_merge = cell("merge", [&](Expr left, Expr right) {
    return tanh(affine(concat({left, right - left}), wide, b));
  });
  Graph graph;
  const Expr x = input(graph, 1);
  const std::int32_t before = graph.size();
  EXPECT_THROW(merge(x, x), UsageError);
  EXPECT_EQ(graph.size(), before);
  const Expr y = wide_merge(x, x);
  EXPECT_EQ(graph.size(), before + 3);  // the weights, the bias, the cell
  wide_merge(y, x);
  EXPECT_EQ(graph.size(), before + 4);
  EXPECT_EQ(y.shape(), Shape{kWidth});
  expect_cells_agree(model, tree_of(wide_merge));
}

TEST_F(CellTest, UsesOfManyInstancesRunInOneStep) {
  const auto step = cell("step", [&](Expr x) { return tanh(affine(sigmoid(linear(x, V)) * x, W, b)); });
  Graph graph;
  std::vector<Expr> ends;
  for (int i = 0; i < 5; ++i) {
    graph.begin_instance();
    Expr x = lookup(graph, table, i);
    for (int k = 0; k <= i; ++k) x = step(x);
    ends.push_back(x);
  }
  sum(ends).value();
  EXPECT_EQ(graph.statistics().steps, 1 + 5 + 1);
  EXPECT_EQ(graph.statistics().nodes, 5 + (1 + 2 + 3 + 4 + 5) + 1);
  EXPECT_EQ(nodes_named(graph, "step"), 15);
}

TEST_F(CellTest, GivesBackAnArrayAPairOrATuple) {
  const auto states = [&](Expr x) { return std::array<Expr, 3>{tanh(linear(x, W)), x * x, sigmoid(x) + b}; };
  const auto array = cell("three", states);
  const auto pair = cell("two", [&](Expr x) { return std::pair<Expr, Expr>(states(x)[0], states(x)[2]); });
  const auto tuple =
      cell("three", [&](Expr x) { return std::tuple<Expr, Expr, Expr>(states(x)[2], states(x)[0], states(x)[1]); });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    inputs.push_back(input(graph, 1));
    const auto [a, b0, c] = array(inputs[0]);
    const auto [d, e] = pair(b0);
    const auto [f, g, h] = tuple(d + a);
    return asymmetric_sum(sum({c * e, f, g * h}));
  });
  Graph graph;
  const std::array<Expr, 3> given = array(input(graph, 1));
  EXPECT_EQ(nodes_named(graph, "three"), 1);
  EXPECT_EQ(nodes_named(graph, "three.1") + nodes_named(graph, "three.2"), 2);
  sum({given[0], given[1], given[2]}).value();
  EXPECT_EQ(graph.statistics().steps, 2);
  EXPECT_EQ(graph.statistics().nodes, 2) << "further results are no nodes of their own";
}

TEST_F(CellTest, ResultsMayBeInputsAndViewsAndEqual) {
  const auto strange = cell("strange", [&](Expr x, Expr y) {
    const Expr h = tanh(linear(x, W));
    return std::array<Expr, 6>{y, slice(h, 1, 4), h, h, reshape(y, {2, kWidth / 2}), slice(h, 1, 4) * slice(y, 0, 3)};
  });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    inputs = {input(graph, 1), input(graph, 2)};
    const auto [a, b0, c, d, e, f] = strange(inputs[0], inputs[1] * 2);
    const auto again = strange(d, c);
    return asymmetric_sum(sum({a, c, d * d, flatten(e), again[2]})) + asymmetric_sum(sum({b0, f, again[1]}));
  });
}

TEST_F(CellTest, ResultsThatNobodyUsesHaveNoGradient) {
  const auto two = cell("two", [&](Expr x) {
    const Expr h = linear(x, W);
    return std::array<Expr, 2>{tanh(h), linear(h, V) + b};
  });
  for (const std::size_t used : {0, 1})
    expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
      inputs.push_back(input(graph, 1));
      return asymmetric_sum(two(two(inputs[0])[used])[used]);
    });
}

TEST_F(CellTest, CellsWithinCellsArePartOfThem) {
  const auto gate = cell("gate", [&](Expr x) { return sigmoid(affine(x, V, b)); });
  const auto mix = cell("mix", [&](Expr x, Expr y) {
    const Expr open = gate(x + y);
    return open * gate(x) + (1 - open) * tanh(linear(y, W));
  });
  Graph graph;
  mix(input(graph, 1), input(graph, 2));
  EXPECT_EQ(nodes_named(graph, "gate"), 0);
  EXPECT_EQ(nodes_named(graph, "mix"), 1);
  expect_cells_agree(model, tree_of(mix));
}

TEST_F(CellTest, IsCompiledForEveryCombinationOfShapes) {
  const auto both = cell("both", [](Expr x, Expr y) { return tanh(x) * softmax(y); });
  Graph graph;
  const Expr small = graph.constant({2}, 0.5);
  const Expr large = graph.constant({7}, 0.25);
  EXPECT_EQ(both(small, small).shape(), Shape{2});
  EXPECT_EQ(both(large, large).shape(), Shape{7});
  EXPECT_EQ(both(small, small * 2).shape(), Shape{2});
  EXPECT_EQ(nodes_named(graph, "both"), 3);
  EXPECT_NEAR(both(large, large).value().at(3), std::tanh(0.25) / 7, 1e-6);
}

// --- outer inputs ----------------------------------------------------------------------------------------------------

TEST_F(CellTest, WhatDependsOnOuterInputsAloneRunsOnceForAll) {
  const auto step =
      cell("step", [&](Expr x, Expr h) { return tanh(affine(x, W, b) + linear(h, V) + x); }, {.outer = {0}});
  const LossOf chain = [&](Graph& graph, std::vector<Expr>& inputs) {
    inputs.push_back(input(graph, 0));
    Expr h = inputs[0];
    for (int t = 1; t <= 6; ++t) {
      inputs.push_back(input(graph, t));
      h = step(inputs.back(), h);
    }
    return asymmetric_sum(h);
  };
  Graph graph;
  std::vector<Expr> inputs;
  chain(graph, inputs).value();
  EXPECT_EQ(nodes_named(graph, "step.outer"), 6);
  EXPECT_EQ(nodes_named(graph, "step"), 6);
  EXPECT_EQ(graph.statistics().steps, 1 + 6 + 1);
  expect_cells_agree(model, chain);
}

TEST_F(CellTest, ProjectionsThatAreResultsAreGivenAsTheyAre) {
  const auto step = cell("step",
                         [&](Expr x, Expr h) {
                           const Expr projected = linear(x, W);
                           return std::array<Expr, 3>{projected, tanh(projected * h), x};
                         },
                         {.outer = {0}});
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    inputs = {input(graph, 0), input(graph, 1)};
    const auto [a, h, x] = step(inputs[0], inputs[1]);
    return asymmetric_sum(sum({a, step(x, h)[1], step(inputs[1], h)[0]}));
  });
}

TEST_F(CellTest, WithoutAProductOfOuterInputsThereIsOneNode) {
  const auto step = cell("step", [&](Expr x, Expr h) { return tanh(sigmoid(x) + linear(h, V)); }, {.outer = {0}});
  Graph graph;
  step(input(graph, 0), input(graph, 1));
  EXPECT_EQ(nodes_named(graph, "step.outer"), 0);
  EXPECT_EQ(nodes_named(graph, "step"), 1);
  expect_cells_agree(model, tree_of(step));
}

// --- where cells are expanded ----------------------------------------------------------------------------------------

TEST_F(CellTest, OpsAreRecordedOneByOneWhereAsked) {
  const auto step = cell("step", [&](Expr x) { return tanh(linear(x, W)); });
  for (const GraphOptions& options :
       {GraphOptions{.expand_cells = true}, GraphOptions{.execution = Execution::kPlain}}) {
    Graph graph(options);
    step(input(graph, 0));
    EXPECT_EQ(nodes_named(graph, "step"), 0);
    EXPECT_EQ(nodes_named(graph, "linear") + nodes_named(graph, "tanh"), 2);
  }
}

TEST_F(CellTest, DoublesAreExpanded) {
  model.to(DType::kFloat64);
  const auto step = cell("step", [&](Expr x) { return tanh(linear(x, W)); });
  Graph graph({.dtype = DType::kFloat64});
  const Expr y = step(graph.constant({kWidth}, 0.5));
  EXPECT_EQ(nodes_named(graph, "step"), 0);
  EXPECT_EQ(y.value().dtype(), DType::kFloat64);
}

TEST_F(CellTest, WhatIsComputedFromParametersAloneIsExpandedAndRight) {
  const auto tied = cell("tied", [&](Expr x, Expr y) {
    const Expr weights = transpose(x.graph().parameter(W));
    return tanh(linear(x, weights) + y * tanh(x.graph().parameter(b)));
  });
  Graph graph;
  tied(input(graph, 0), input(graph, 1));
  EXPECT_EQ(nodes_named(graph, "tied"), 0);
  expect_cells_agree(model, tree_of(tied));
}

TEST_F(CellTest, TooManyParametersAreExpandedAndRight) {
  std::vector<const Parameter*> many;
  for (int i = 0; i < 63; ++i) many.push_back(&model.add("p" + std::to_string(i), {kWidth}, init::uniform(-1, 1)));
  for (const std::size_t count : {31, 62, 63}) {
    const auto long_sum = cell("long", [&](Expr x) {
      for (std::size_t i = 0; i < count; ++i) x = tanh(x * *many[i]);
      return x;
    });
    Graph graph;
    long_sum(input(graph, 0)).value();
    EXPECT_EQ(nodes_named(graph, "long"), count < 63 ? 1 : 0);
    EXPECT_EQ(graph.explain().find("recorded op by op, and why:\n  cell \"long\": its function has 64 inputs and "
                                   "parameters, and at most 63 can be compiled\n") == std::string::npos,
              count < 63)
        << graph.explain();
    expect_cells_agree(model, [&](Graph& g, std::vector<Expr>& inputs) {
      inputs.push_back(input(g, 0));
      return asymmetric_sum(long_sum(inputs[0]));
    });
  }
}

TEST_F(CellTest, ManyInputsAreMultipliedSideBySide) {
  constexpr std::size_t kInputs = 59;
  Parameter& wide = model.add("wide", {static_cast<std::int64_t>(kInputs) * kWidth, kWidth}, init::uniform(-0.2, 0.2));
  const auto merge = cell("merge", [&](std::span<const Expr> in) {
    return std::pair(tanh(affine(concat(in, 0), wide, b)), in.back() * in[33]);
  });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> results;
    for (int use = 0; use < 3; ++use) {
      std::vector<Expr> in;
      for (std::size_t i = 0; i < kInputs; ++i) in.push_back(tanh(input(graph, 7 * use + static_cast<int>(i))));
      inputs.insert(inputs.end(), in.begin() + 30, in.begin() + 35);
      const auto [first, second] = merge(in);
      results.push_back(first);
      results.push_back(second);
    }
    return asymmetric_sum(sum(results));
  });
  Graph graph;
  std::vector<Expr> in(kInputs, input(graph, 0));
  merge(in);
  EXPECT_EQ(nodes_named(graph, "merge"), 1);
}

// A deliberate rule (docs/surprises.md): a cell leaves out the product of weights with a state that is known to be
// zeros.
TEST_F(CellTest, WeightsThatAreNotFiniteAreNotMultipliedByAStateOfZeros) {
  for (float& element : W.mutable_value().as<float>()) element = std::numeric_limits<float>::infinity();
  const auto step = cell("step", [&](Expr x, Expr h) { return tanh(x + linear(h, W)); });
  const auto first_of = [&](const GraphOptions& options) {
    Graph graph(options);
    return step(input(graph, 1), graph.constant({kWidth}, 0)).value().at(0);
  };
  EXPECT_TRUE(std::isfinite(first_of({})));
  EXPECT_TRUE(std::isnan(first_of({.expand_cells = true})));
  EXPECT_TRUE(std::isnan(first_of({.execution = Execution::kPlain})));
  // Zeros that are computed, or given as an input, are numbers like others.
  Graph graph;
  EXPECT_TRUE(std::isnan(step(input(graph, 1), graph.input(Tensor({kWidth}))).value().at(0)));
}

// --- parameters ------------------------------------------------------------------------------------------------------

TEST_F(CellTest, TakesParametersAsInputs) {
  const auto product = cell("product", [](Expr x, Expr weights, Expr bias) { return tanh(affine(x, weights, bias)); });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    inputs.push_back(input(graph, 0));
    return asymmetric_sum(product(product(inputs[0], W, b), V, graph.parameter(b)));
  });
  Graph graph;
  product(input(graph, 0), W, b);
  EXPECT_EQ(nodes_named(graph, "product"), 1);
}

TEST_F(CellTest, AParameterThatIsGivenAndCapturedGetsBothGradients) {
  const auto product = cell("product", [&](Expr x, Expr bias) { return affine(tanh(affine(x, W, b)), W, bias * b); });
  const auto early = cell("early", [&](Expr x, Expr bias) { return affine(affine(x, V, b) + bias, V, bias); });
  for (const bool first : {true, false})
    expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
      inputs.push_back(input(graph, 0));
      return asymmetric_sum(first ? early(inputs[0], b) : product(inputs[0], inputs[0]));
    });
}

TEST_F(CellTest, SharedInputsThatAreNotUsedHaveAGradientOfZero) {
  const auto first = cell("first", [&](Expr x, Expr) { return linear(x, W) * 2; });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    inputs.push_back(input(graph, 0));
    return asymmetric_sum(first(inputs[0], tanh(graph.parameter(b))) + first(inputs[0], b));
  });
}

TEST_F(CellTest, SharedOperandsOfRaggedOpsHaveGradients) {
  const auto join = cell("join", [&](Expr x, Expr shared) {
    return mean({x, shared, tanh(x)}) + max({x, shared}) * min({x - 10, shared, x}) + sum({x, shared});
  });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    for (int i = 0; i < 3; ++i) inputs.push_back(input(graph, i));
    const Expr computed = tanh(graph.parameter(b)) * 5;
    return asymmetric_sum(sum({join(inputs[0], computed), join(inputs[1], b), join(inputs[2], b)}));
  });
}

TEST_F(CellTest, WeightsOfTheFirstResultGetWhatComesThroughTheOthers) {
  const auto both = cell("both", [&](Expr x) {
    const Expr h = affine(x, W, b);
    return std::array<Expr, 2>{h, tanh(h)};
  });
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>&) {  // no input wants a gradient
    const auto [h, t] = both(input(graph, 1));
    return asymmetric_sum(h) + asymmetric_sum(t);
  });
}

TEST_F(CellTest, FrozenParametersGetNoGradient) {
  const auto step = cell("step", [&](Expr x) { return tanh(affine(linear(x, W), V, b)); });
  W.frozen = b.frozen = true;
  Graph graph;
  Gradients gradients;
  const Expr x = input(graph, 0);
  asymmetric_sum(step(step(x))).backward({.into = &gradients, .wanted = {x}});
  EXPECT_EQ(gradients.find(W), nullptr);
  EXPECT_EQ(gradients.find(b), nullptr);
  EXPECT_NE(gradients.find(V), nullptr);
  expect_cells_agree(model, [&](Graph& g, std::vector<Expr>& inputs) {
    inputs.push_back(input(g, 0));
    return asymmetric_sum(step(step(inputs[0])));
  });
}

TEST_F(CellTest, SeesNewValuesOfItsParameters) {
  const auto step = cell("step", [&](Expr x) { return affine(x, W, b); });
  Graph graph;
  const double before = step(input(graph, 0)).value().at(2);
  b.mutable_value().set(2, b.value().at(2) + 3);
  graph.clear();
  EXPECT_NEAR(step(input(graph, 0)).value().at(2), before + 3, 1e-5);
}

// --- dropout ---------------------------------------------------------------------------------------------------------

TEST_F(CellTest, DropsOutWhatTheExpansionDropsOut) {
  const auto noisy = cell("noisy", [](Expr x, Expr y) {
    dropout(x, 0.9);  // counts, though nobody needs it
    return dropout(x, 0.5) + dropout(y, 0.25);
  });
  const auto values = [&](const GraphOptions& options) {
    Graph graph(options);
    std::vector<Tensor> result;
    for (int i = 0; i < 3; ++i) {
      graph.begin_instance(static_cast<std::uint64_t>(7 + i));
      const Expr x = graph.constant({50}, 1);
      result.push_back(noisy(dropout(x, 0.1), noisy(x, x)).value());
      result.push_back(dropout(x, 0.5).value());
    }
    return result;
  };
  const std::vector<Tensor> expected = values({.seed = 3, .step = 2, .expand_cells = true});
  EXPECT_EQ(values({.seed = 3, .step = 2}), expected);
  EXPECT_NE(values({.seed = 4, .step = 2}), expected);
  EXPECT_NE(values({.seed = 3, .step = 1}), expected);
}

TEST_F(CellTest, DropsOutTheSameOnBothSidesOfTheProjection) {
  const auto noisy = cell("noisy",
                          [&](Expr x, Expr h) {
                            const Expr from_h = dropout(h, 0.5);
                            return linear(dropout(x, 0.5), W) + dropout(from_h, 0.1);
                          },
                          {.outer = {0}});
  expect_cells_agree(model, tree_of(noisy));
  Graph graph;
  noisy(input(graph, 0), input(graph, 1));
  EXPECT_EQ(nodes_named(graph, "noisy.outer"), 1);
}

TEST_F(CellTest, DropsOutNothingOutsideTraining) {
  const auto noisy = cell("noisy", [](Expr x) { return dropout(x * 2, 0.5); });
  Graph training;
  noisy(training.constant({50}, 1)).value();
  Graph graph({.training = false});
  EXPECT_EQ(noisy(graph.constant({50}, 1)).value(), Tensor::filled({50}, 2));
}

// --- lifetimes -------------------------------------------------------------------------------------------------------

TEST_F(CellTest, NodesOutliveTheCell) {
  Graph graph;
  Gradients gradients;
  Expr loss;
  std::vector<Tensor> expected;
  {
    const auto step = cell("step", [&](Expr x, Expr y) { return tanh(affine(x, W, b)) * y; }, {.outer = {0}});
    expected = numbers_of(model, {}, tree_of(step));
    std::vector<Expr> inputs;
    loss = tree_of(step)(graph, inputs);
  }
  loss.backward({.into = &gradients, .wanted = {}});
  EXPECT_EQ(loss.value(), expected[0]);
  EXPECT_EQ(gradients.find(W)->to_tensor(), expected[2]);
}

TEST_F(CellTest, CopiesShareWhatWasCompiled) {
  int calls = 0;
  std::optional first(cell("step", [&](Expr x) {
    ++calls;
    return tanh(linear(x, W));
  }));
  Graph graph;
  const Expr x = input(graph, 0);
  (*first)(x);
  const auto second = *first;
  first.reset();
  second(x).value();
  graph.clear();
  second(input(graph, 0)).value();
  EXPECT_EQ(calls, 1);
}

TEST_F(CellTest, ClearedGraphsAreUsedAgain) {
  const auto step = cell("step", [&](Expr x) { return std::array<Expr, 2>{tanh(linear(x, W)), x + b}; });
  const auto run = [&](Graph& graph) {
    const auto [h, c] = step(input(graph, 3));
    const Expr loss = asymmetric_sum(step(h)[0] + c);
    Gradients gradients;
    loss.backward({.into = &gradients, .wanted = {}});
    return std::pair(loss.value(), gradients.find(W)->to_tensor());
  };
  Graph graph;
  const auto expected = run(graph);
  for (int round = 0; round < 3; ++round) {
    graph.clear();
    EXPECT_EQ(run(graph), expected);
  }
}

// --- wanted gradients ------------------------------------------------------------------------------------------------

TEST_F(CellTest, AWantedResultThatTheCellUsesItselfHasItsWholeGradient) {
  const auto both = cell("both", [](Expr x) {
    const Expr h = tanh(x);
    return std::array<Expr, 2>{square(h), h};
  });
  const auto gradient = [&](const GraphOptions& options) {
    Graph graph(options);
    const auto [s, h] = both(input(graph, 1));
    asymmetric_sum(s + h).backward({.wanted = {h}});
    return h.grad();
  };
  testing::expect_near({gradient({})}, {gradient({.expand_cells = true})}, "cells");
}

/// A product does what a relu behind it does, unless somebody else reads it: in the middle, as the result, after an
/// addition; with small weights and large ones.
TEST(Cell, AgreesWhereProductsEndInARelu) {
  for (const std::int32_t width : {7, 160}) {
    Model model(3);
    const Parameter& W = model.add("W", {width, width}, init::glorot());
    const Parameter& U = model.add("U", {width, width}, init::glorot());
    const Parameter& b = model.add("b", {width}, init::uniform(-1, 1));
    const std::vector<std::function<Expr(Expr, Expr)>> functions{
        [&](Expr x, Expr) { return relu(affine(x, W, b)); },
        [&](Expr x, Expr) { return relu(linear(relu(affine(x, W, b)), U)); },
        [&](Expr x, Expr h) { return relu(affine(x, W, b) + linear(h, U)); },
        [&](Expr x, Expr h) { return relu(affine(x, W, b)) * h; },
        [&](Expr x, Expr h) { return tanh(linear(relu(affine(x, W, b) + linear(h, U)) * x, W)); },
        [&](Expr x, Expr h) {
          const Expr m = affine(x, W, b);
          return relu(m) + m * relu(linear(h, U));
        }};
    for (std::size_t f = 0; f < functions.size(); ++f) {
      const auto step = cell("step" + std::to_string(f), functions[f]);
      for (const std::int32_t uses : {1, 5, 70})
        expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
          Random random(5);
          std::vector<Expr> losses;
          for (std::int32_t i = 0; i < uses; ++i) {
            graph.begin_instance();
            Tensor x({width});
            for (float& number : x.as<float>()) number = static_cast<float>(random.uniform(-1, 1));
            inputs.push_back(graph.input(x));
            const Expr once = step(inputs.back(), tanh(inputs.back()));
            losses.push_back(asymmetric_sum(step(once, inputs.back())));
          }
          inputs.resize(1);
          return mean(losses);
        });
    }
  }
}

}  // namespace
}  // namespace espalier
