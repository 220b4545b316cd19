/// The fully connected layer: each option against its formula, initial variance, and batching.
#include "espalier/nn/fc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "espalier/cells/cell.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"
#include "tests/support/ways_agree.h"

namespace espalier::nn {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::check_gradients;
using espalier::testing::expect_value;
using espalier::testing::expect_ways_agree;
using espalier::testing::parameters_of;
using espalier::testing::randomise;
using espalier::testing::refusal_of;
using espalier::testing::Vec;
using espalier::testing::vector_input;
using espalier::testing::Weights;

const Vec kFcInput{0.3, -0.6, 0.9};

/// x W, from single numbers.
Vec product(const Weights& w, const Vec& x, std::size_t size, const std::string& name = "W") {
  Vec y;
  for (std::size_t j = 0; j < size; ++j) y.push_back(w.product(x, name, j));
  return y;
}

TEST(FC, IsAProductABiasAndRelu) {
  Model model;
  const FC layer(model / "fc", 3, 4);
  EXPECT_EQ(parameters_of(model), "fc.W [3, 4], fc.b [4]");
  EXPECT_EQ(layer.input(), 3);
  EXPECT_EQ(layer.output(), 4);
  EXPECT_EQ(layer.weights().name(), "fc.W");
  EXPECT_EQ(layer.bias()->name(), "fc.b");
  EXPECT_EQ(layer.scales(), nullptr);
  randomise(model);
  const Weights w(model, "fc");
  Vec expected = product(w, kFcInput, 4);
  for (std::size_t j = 0; j < 4; ++j) expected[j] = std::max(0.0, expected[j] + w.at("b", j));
  Graph g;
  expect_value(layer(vector_input(g, kFcInput)), expected);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(layer(vector_input(graph, kFcInput))); });
}

TEST(FC, CanDoWithoutBiasAndActivation) {
  Model model;
  const FC layer(model / "fc", 3, 2, {.activation = Activation::kNone, .bias = false});
  EXPECT_EQ(parameters_of(model), "fc.W [3, 2]");
  EXPECT_EQ(layer.bias(), nullptr);
  randomise(model);
  Graph g;
  expect_value(layer(vector_input(g, kFcInput)), product(Weights(model, "fc"), kFcInput, 2));
}

TEST(FC, EveryActivationIsAppliedToTheSum) {
  for (const Activation activation : {Activation::kTanh, Activation::kSigmoid, Activation::kRelu6, Activation::kSilu}) {
    Model model;
    const FC layer(model / "fc", 3, 2, {.activation = activation});
    const FC inner(model / "copy", 3, 2, {.activation = Activation::kNone});
    randomise(model);
    for (const char* name : {"W", "b"})
      model.parameter(std::string("copy.") + name).replace_value(model.parameter(std::string("fc.") + name).value());
    Graph g;
    const Expr x = vector_input(g, kFcInput);
    EXPECT_EQ(layer(x).value(), activate(inner(x), activation).value());
  }
}

TEST(FC, LayerNormTakesThePlaceOfTheBias) {
  Model model;
  const FC layer(model / "fc", 3, 4, {.activation = Activation::kTanh, .layer_norm = true});
  EXPECT_EQ(parameters_of(model), "fc.W [3, 4], fc.norm.gain [4], fc.norm.bias [4]");
  randomise(model);
  const Weights w(model, "fc");
  Vec y = product(w, kFcInput, 4);
  double mean = 0;
  for (const double element : y) mean += element / 4;
  double variance = 0;
  for (const double element : y) variance += (element - mean) * (element - mean) / 4;
  for (std::size_t j = 0; j < 4; ++j)
    y[j] = std::tanh((y[j] - mean) / std::sqrt(variance + 1e-5) * w.at("norm.gain", j) + w.at("norm.bias", j));
  Graph g;
  expect_value(layer(vector_input(g, kFcInput)), y, 1e-8);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(layer(vector_input(graph, kFcInput))); });
}

TEST(FC, WeightNormLearnsLengthsApartFromDirections) {
  Model model;
  const FC layer(model / "fc", 3, 2, {.activation = Activation::kNone, .weight_norm = true});
  EXPECT_EQ(parameters_of(model), "fc.V [3, 2], fc.g [2], fc.b [2]");
  EXPECT_EQ(layer.scales()->name(), "fc.g");
  randomise(model);
  const Weights w(model, "fc");
  Vec y = product(w, kFcInput, 2, "V");
  for (std::size_t j = 0; j < 2; ++j) {
    double squares = 0;
    for (std::size_t i = 0; i < 3; ++i) squares += w.at("V", i, j) * w.at("V", i, j);
    y[j] = w.at("g", j) * y[j] / std::sqrt(squares) + w.at("b", j);
  }
  Graph g;
  expect_value(layer(vector_input(g, kFcInput)), y);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(layer(vector_input(graph, kFcInput))); });
}

TEST(FC, WeightNormStartsAsTheSameLayerWithout) {
  Model model;
  const FC layer(model / "fc", 30, 5, {.weight_norm = true});
  Graph g;
  const Expr W = weight_norm(g.parameter(layer.weights()), *layer.scales());
  const Tensor given = W.value();
  for (std::int64_t i = 0; i < given.elements(); ++i) EXPECT_NEAR(given.at(i), layer.weights().value().at(i), 1e-6);
}

TEST(FC, UsesOfNormalisedWeightsRunTogether) {
  const auto steps = [](bool weight_norm) {
    Model model;
    const FC layer(model / "fc", 3, 4, {.weight_norm = weight_norm});
    Graph g;
    std::vector<Expr> losses;
    for (int i = 0; i < 20; ++i) {
      g.begin_instance();
      losses.push_back(sum_elements(layer(g.constant({3}, i))));
    }
    sum(losses).value();
    return g.statistics().steps;
  };
  EXPECT_EQ(steps(true), steps(false) + 1);
}

TEST(FC, NormalisedWeightsFollowTheirParameters) {
  Model model;
  const FC layer(model / "fc", 3, 2, {.activation = Activation::kNone, .weight_norm = true});
  randomise(model);
  const auto value = [&] {
    Graph g;
    return layer(vector_input(g, kFcInput)).value();
  };
  const Tensor before = value();
  Tensor& lengths = model.parameter("fc.g").mutable_value();
  for (std::int64_t j = 0; j < 2; ++j) lengths.set(j, 3 * lengths.at(j));
  const Tensor after = value();
  for (std::int64_t j = 0; j < 2; ++j) {
    const double bias = model.parameter("fc.b").value().at(j);
    EXPECT_NEAR(after.at(j) - bias, 3 * (before.at(j) - bias), 1e-12);
  }
}

TEST(FC, DropsInputsAndOutputsWhileTraining) {
  Model model;
  const FC in(model / "in", 400, 1,
              {.activation = Activation::kNone, .init = init::constant(1), .input_dropout = 0.75});
  const FC out(model / "out", 1, 400,
               {.activation = Activation::kNone, .init = init::constant(1), .output_dropout = 0.75});
  Graph g({.seed = 3});
  // A hundred of 400 ones are kept, and count four each.
  EXPECT_NEAR(in(g.constant({400}, 1)).scalar(), 400, 160);
  EXPECT_NE(in(g.constant({400}, 1)).scalar(), 400);
  const Tensor y = out(g.constant({1}, 1)).value();
  int kept = 0;
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    EXPECT_TRUE(y.at(i) == 0 || y.at(i) == 4) << y.at(i);
    kept += y.at(i) != 0 ? 1 : 0;
  }
  EXPECT_NEAR(kept, 100, 40);
  Graph inference({.training = false});
  EXPECT_EQ(in(inference.constant({400}, 1)).scalar(), 400);
}

TEST(FC, GradientsPassThroughAllOptionsTogether) {
  Model model;
  const FC layer(model / "fc", 3, 5,
                 {.activation = Activation::kTanh,
                  .input_dropout = 0.3,
                  .output_dropout = 0.3,
                  .layer_norm = true,
                  .weight_norm = true});
  randomise(model);
  check_gradients(
      model, [&](Graph& graph) { return asymmetric_sum(layer(vector_input(graph, kFcInput))); }, 1e-6);
}

TEST(FC, AgreesWithTheTwinAloneAndAmongUnlikeInstances) {
  for (const bool weight_norm : {false, true})
    for (const bool layer_norm : {false, true}) {
      Model model;
      const FC first(model / "first", 6, 5,
                     {.activation = Activation::kTanh,
                      .input_dropout = 0.2,
                      .layer_norm = layer_norm,
                      .weight_norm = weight_norm});
      const FC second(model / "second", 5, 5, {.output_dropout = 0.2, .weight_norm = weight_norm});
      const auto input = [](Graph& graph, std::int32_t instance, std::int32_t size) {
        Tensor x({size});
        for (std::int64_t i = 0; i < size; ++i)
          x.set(i, std::sin(1.0 + static_cast<double>(instance) + 2 * static_cast<double>(i)));
        return graph.input(x);
      };
      expect_ways_agree(
          model,
          [&](Graph& graph, std::int32_t i) { return asymmetric_sum(second(second(first(input(graph, i, 6))))); },
          [&](Graph& graph, std::int32_t i) { return asymmetric_sum(tanh(second(input(graph, i, 5)))); });
    }
}

TEST(FC, CanBePartOfACell) {
  Model model;
  const FC layer(model / "fc", 3, 3, {.weight_norm = true});
  const auto step = cell("step", [&](Expr x) { return tanh(layer(x)); });
  Graph g;
  Expr h = g.constant({3}, 0.5);
  Expr plain = h;
  for (int i = 0; i < 3; ++i) {
    h = step(h);
    plain = tanh(layer(plain));
  }
  const Tensor with = h.value();
  const Tensor without = plain.value();
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_NEAR(with.at(i), without.at(i), 1e-6);
}

TEST(FC, CopiesShareTheirWeightsAndNamesAreUnique) {
  Model model;
  const FC layer(model / "fc", 3, 2, {.weight_norm = true});
  const FC copy = layer;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  EXPECT_EQ(model.parameters().size(), 3U);
  Graph g;
  const Expr x = g.constant({3}, 1);
  EXPECT_EQ(layer(x).value(), copy(x).value());
  EXPECT_EQ(refusal_of([&] { FC(model / "fc", 3, 2, {.weight_norm = true}); }),
            "model: the name \"fc.V\" is taken by a parameter of shape [3, 2]");
}

TEST(FC, RefusesSizesAndRatesOutside) {
  Model model;
  EXPECT_EQ(refusal_of([&] { FC(model / "fc", 0, 2); }),
            "fc \"fc\": the input size must be at least 1, and 0 was given");
  EXPECT_EQ(refusal_of([&] { FC(model / "fc", 2, 0); }),
            "fc \"fc\": the output size must be at least 1, and 0 was given");
  EXPECT_EQ(refusal_of([&] { FC(model / "fc", 2, 2, {.input_dropout = 1}); }),
            "dropout: the rate must be at least 0 and below 1, and 1 was given");
}

// The variance of what a layer gives for inputs of unit variance is that of its weights times its fan-in.
TEST(FC, InitialWeightsHaveTheVarianceOfTheirActivation) {
  const auto variance = [](Activation activation) {
    Model model;
    const FC layer(model / "fc", 200, 500, {.activation = activation});
    double squares = 0;
    const Tensor& W = layer.weights().value();
    for (std::int64_t i = 0; i < W.elements(); ++i) squares += W.at(i) * W.at(i);
    return squares / static_cast<double>(W.elements());
  };
  // 100,000 draws of a uniform distribution: the deviation of their variance is 0.3 % of it.
  for (const Activation activation : {Activation::kRelu, Activation::kRelu6, Activation::kGelu})
    EXPECT_NEAR(variance(activation) * 200, 1.43 * 1.43, 0.03);
  EXPECT_NEAR(variance(Activation::kTanh) * 200, 1.15 * 1.15, 0.02);
  EXPECT_NEAR(variance(Activation::kNone) * 200, 1, 0.015);
  // Cut off at two deviations, a normal distribution has 0.774 of its variance.
  EXPECT_NEAR(variance(Activation::kSigmoid), 0.774e-4, 0.02e-4);
}

}  // namespace
}  // namespace espalier::nn
