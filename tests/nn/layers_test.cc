#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/attention.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/layer_norm.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/mlp.h"
#include "espalier/nn/model.h"
#include "espalier/ops/add.h"
#include "espalier/ops/sum.h"
#include "tests/support/gradient_check.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"

namespace espalier::nn {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::check_gradients;
using espalier::testing::expect_value;
using espalier::testing::parameters_of;
using espalier::testing::randomise;
using espalier::testing::refusal_of;
using espalier::testing::Vec;
using espalier::testing::vector_input;
using espalier::testing::Weights;
using ::testing::HasSubstr;
using testing::here;
using ::testing::StartsWith;

const Vec kX{0.3, -0.6, 0.9};

TEST(GradientCheck, SeesAGradientThatIsNotThere) {
  static Model model;  // static: what the macro below runs cannot capture
  static const Linear layer(model / "out", 1, 1, {.bias = false});
  randomise(model);
  EXPECT_NONFATAL_FAILURE(check_gradients(model,
                                          [](Graph& g) {
                                            const Expr y = layer(vector_input(g, {0.5}));
                                            return y + g.input(y.value());  // the second one hides from backward()
                                          }),
                          "element 0 of parameter \"out.W\"");
}

TEST(Linear, IsAProductAndABias) {
  Model model;
  const Linear layer(model / "out", 3, 2);
  EXPECT_EQ(parameters_of(model), "out.W [3, 2], out.b [2]");
  EXPECT_EQ(model.count(), 8);
  EXPECT_EQ(layer.input(), 3);
  EXPECT_EQ(layer.output(), 2);
  randomise(model);
  const Weights w(model, "out");
  Graph g;
  expect_value(layer(vector_input(g, kX)),
               {w.product(kX, "W", 0) + w.at("b", 0), w.product(kX, "W", 1) + w.at("b", 1)});
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(layer(vector_input(graph, kX))); });
}

TEST(Linear, CanDoWithoutBias) {
  Model model;
  const Linear layer(model / "out", 3, 2, {.bias = false});
  EXPECT_EQ(parameters_of(model), "out.W [3, 2]");
  randomise(model);
  const Weights w(model, "out");
  Graph g;
  expect_value(layer(vector_input(g, kX)), {w.product(kX, "W", 0), w.product(kX, "W", 1)});
}

TEST(Linear, NamesTheCallersLineForAnInputOfAnotherSize) {
  Model model;
  const Linear layer(model / "out", 3, 2);
  Graph g;
  const Expr x = g.constant({4}, 1);
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { layer(x); });
  EXPECT_THAT(text, StartsWith("affine: size of x (4) and rows of W (3) differ"));
  EXPECT_THAT(text, HasSubstr("\"out.W\""));
  EXPECT_THAT(text, HasSubstr("at " + here(line)));
}

TEST(Linear, RefusesSizesBelowOne) {
  Model model;
  EXPECT_EQ(refusal_of([&] { Linear(model / "out", 0, 2); }),
            "linear \"out\": the input size must be at least 1, and 0 was given");
  EXPECT_EQ(refusal_of([&] { Linear(model / "out", 3, -2); }),
            "linear \"out\": the output size must be at least 1, and -2 was given");
}

TEST(Linear, CopiesShareTheirWeights) {
  Model model;
  const Linear layer(model / "out", 3, 2);
  const Linear copy = layer;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  randomise(model);
  EXPECT_EQ(model.parameters().size(), 2U);
  Graph g;
  const Expr x = vector_input(g, kX);
  EXPECT_EQ(layer(x).value(), copy(x).value());
  const auto gradient_of = [&](auto&& build) {
    model.gradients().clear();
    Graph graph;
    build(vector_input(graph, kX)).backward();
    return model.gradients().find(model.parameter("out.W"))->to_tensor();
  };
  const Tensor once = gradient_of([&](const Expr& in) { return asymmetric_sum(layer(in)); });
  const Tensor twice = gradient_of([&](const Expr& in) { return asymmetric_sum(layer(in) + copy(in)); });
  for (std::int64_t i = 0; i < once.elements(); ++i) EXPECT_NEAR(twice.at(i), 2 * once.at(i), 1e-12);
}

TEST(Embedding, GivesRowsOfItsTable) {
  Model model;
  const Embedding words(model / "words", 5, 3);
  EXPECT_EQ(parameters_of(model), "words.table [5, 3]");
  EXPECT_EQ(words.size(), 5);
  EXPECT_EQ(words.dim(), 3);
  randomise(model);
  const Weights w(model, "words");
  Graph g;
  expect_value(words(g, 4), {w.at("table", 4, 0), w.at("table", 4, 1), w.at("table", 4, 2)}, 0);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(words(graph, 4) + words(graph, 1)); });
  EXPECT_THAT(model.gradients().find(model.parameter("words.table"))->rows, ::testing::ElementsAre(1, 4));
}

TEST(Embedding, StartsWithVectorsOfLengthOne) {
  Model model;
  const Embedding words(model / "words", 200, 50);
  double squares = 0;
  const Tensor& table = model.parameter("words.table").value();
  for (std::int64_t i = 0; i < table.elements(); ++i) squares += table.at(i) * table.at(i);
  EXPECT_NEAR(squares / 200, 1, 0.05);
}

TEST(Embedding, NamesTheCallersLineForARowOutside) {
  Model model;
  const Embedding words(model / "words", 5, 3);
  Graph g;
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { words(g, 5); });
  EXPECT_THAT(text, StartsWith("lookup: row 5 is outside the table (rows 0 to 4)"));
  EXPECT_THAT(text, HasSubstr(here(line)));
}

TEST(Mlp, PutsActivationsBetweenItsLayers) {
  Model model;
  const Mlp mlp(model / "mlp", {3, 4, 2}, {.activation = Activation::kTanh});
  EXPECT_EQ(parameters_of(model), "mlp.0.W [3, 4], mlp.0.b [4], mlp.1.W [4, 2], mlp.1.b [2]");
  randomise(model);
  const Weights w(model, "mlp");
  Vec hidden;
  for (std::size_t j = 0; j < 4; ++j) hidden.push_back(std::tanh(w.product(kX, "0.W", j) + w.at("0.b", j)));
  Vec out;
  for (std::size_t j = 0; j < 2; ++j) out.push_back(w.product(hidden, "1.W", j) + w.at("1.b", j));
  Graph g;
  expect_value(mlp(vector_input(g, kX)), out);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(mlp(vector_input(graph, kX))); });
}

TEST(Mlp, CanActivateTheLastLayerToo) {
  Model model;
  const Mlp mlp(model / "mlp", {3, 2}, {.activation = Activation::kSigmoid, .activate_last = true});
  randomise(model);
  const Weights w(model, "mlp");
  Graph g;
  expect_value(mlp(vector_input(g, kX)), {espalier::testing::sigma(w.product(kX, "0.W", 0) + w.at("0.b", 0)),
                                          espalier::testing::sigma(w.product(kX, "0.W", 1) + w.at("0.b", 1))});
}

TEST(Mlp, KnowsEveryActivation) {
  const auto gives = [](Activation activation, double expected) {
    Graph g;
    expect_value(activate(vector_input(g, {-0.5}), activation), {expected}, 1e-9);
  };
  gives(Activation::kTanh, std::tanh(-0.5));
  gives(Activation::kSigmoid, 1 / (1 + std::exp(0.5)));
  gives(Activation::kRelu, 0);
  gives(Activation::kLeakyRelu, -0.005);
  gives(Activation::kElu, std::exp(-0.5) - 1);
  gives(Activation::kGelu, -0.25 * (1 + std::erf(-0.5 / std::sqrt(2))));
  gives(Activation::kSoftplus, std::log(1 + std::exp(-0.5)));
  gives(Activation::kSilu, -0.5 / (1 + std::exp(0.5)));
  gives(Activation::kRelu6, 0);
  gives(Activation::kNone, -0.5);
}

TEST(Mlp, DropsOnlyWhileTraining) {
  Model model;
  const Mlp mlp(model / "mlp", {3, 64, 1}, {.dropout = 0.5});
  randomise(model);
  const auto value = [&](bool training) {
    Graph g({.seed = 3, .step = 0, .training = training});
    return mlp(vector_input(g, kX)).scalar();
  };
  EXPECT_EQ(value(false), value(false));
  EXPECT_EQ(value(true), value(true));
  EXPECT_NE(value(true), value(false));
  check_gradients(model, [&](Graph& graph) { return mlp(vector_input(graph, kX)); });
}

TEST(Mlp, RefusesAListThatIsTooShort) {
  Model model;
  EXPECT_EQ(refusal_of([&] { Mlp(model / "mlp", {3}); }),
            "mlp \"mlp\": needs the sizes of the input and of each layer, and 1 were given");
}

TEST(Mlp, NamesTheCallersLineForAnInputOfAnotherSize) {
  Model model;
  const Mlp mlp(model / "mlp", {3, 4, 2});
  Graph g;
  const Expr x = g.constant({4}, 1);
  const int line = __LINE__ + 1;
  EXPECT_THAT(refusal_of([&] { mlp(x); }), HasSubstr("at " + here(line)));
}

TEST(Dropout, KeepsItsRateAndRefusesRatesOutside) {
  EXPECT_EQ(Dropout(0.25).rate(), 0.25);
  EXPECT_EQ(refusal_of([] { Dropout(1); }), "dropout: the rate must be at least 0 and below 1, and 1 was given");
  EXPECT_EQ(refusal_of([] { Dropout(-0.5); }), "dropout: the rate must be at least 0 and below 1, and -0.5 was given");
  EXPECT_THROW(Dropout(std::nan("")), UsageError);
}

TEST(Dropout, ScalesWhatItKeeps) {
  Graph g;
  const Tensor y = Dropout(0.75)(g.constant({400}, 1)).value();
  int kept = 0;
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    EXPECT_TRUE(y.at(i) == 0 || y.at(i) == 4) << y.at(i);
    kept += y.at(i) != 0;
  }
  EXPECT_NEAR(kept, 100, 40);
}

TEST(LayerNorm, GivesMeanZeroAndVarianceOneAtFirst) {
  Model model;
  const LayerNorm norm(model / "norm", 3);
  EXPECT_EQ(parameters_of(model), "norm.gain [3], norm.bias [3]");
  model.to(DType::kFloat64);
  Graph g;
  const Tensor y = norm(vector_input(g, kX)).value();
  EXPECT_NEAR(y.at(0) + y.at(1) + y.at(2), 0, 1e-12);
  EXPECT_NEAR(y.at(0) * y.at(0) + y.at(1) * y.at(1) + y.at(2) * y.at(2), 3, 1e-3);
}

TEST(LayerNorm, FollowsItsEquation) {
  Model model;
  const LayerNorm norm(model / "norm", 3, {.epsilon = 0.0078125F});
  randomise(model);
  const Weights w(model, "norm");
  const double mean = (kX[0] + kX[1] + kX[2]) / 3;
  double variance = 0;
  for (double x : kX) variance += (x - mean) * (x - mean) / 3;
  Vec expected;
  for (std::size_t j = 0; j < 3; ++j)
    expected.push_back((kX[j] - mean) / std::sqrt(variance + 0.0078125) * w.at("gain", j) + w.at("bias", j));
  Graph g;
  expect_value(norm(vector_input(g, kX)), expected);
  const Linear before(model / "before", 3, 3);  // its gradient comes through the norm
  randomise(model);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(norm(before(vector_input(graph, kX)))); });
}

TEST(LayerNorm, NamesTheCallersLineForAnInputOfAnotherSize) {
  Model model;
  const LayerNorm norm(model / "norm", 3);
  Graph g;
  const Expr x = g.constant({4}, 1);
  const int line = __LINE__ + 1;
  EXPECT_THAT(refusal_of([&] { norm(x); }), HasSubstr("at " + here(line)));
}

// --- attention -------------------------------------------------------------------------------------------------------

const std::vector<Vec> kKeys{{0.5, -0.2, 0.1}, {-0.4, 0.8, 0.7}, {0.9, 0.3, -0.6}, {0.2, 0.2, 0.4}};
const std::vector<Vec> kValues{{1, 2}, {-3, 0.5}, {0.25, -1}, {2, 2}};

std::vector<Expr> inputs(Graph& g, const std::vector<Vec>& rows, DType dtype = DType::kFloat64) {
  std::vector<Expr> list;
  list.reserve(rows.size());
  for (const Vec& row : rows) list.push_back(vector_input(g, row, dtype));
  return list;
}

void expect_attended(const Attended& given, const Vec& scores) {
  double total = 0;
  for (double score : scores) total += std::exp(score);
  Vec weights;
  Vec value(kValues[0].size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    weights.push_back(std::exp(scores[i]) / total);
    for (std::size_t j = 0; j < value.size(); ++j) value[j] += weights[i] * kValues[i][j];
  }
  expect_value(given.weights, weights);
  expect_value(given.value, value);
}

TEST(DotAttention, WeighsValuesByTheSoftmaxOfProducts) {
  for (const bool scaled : {false, true}) {
    Vec scores;
    for (const Vec& key : kKeys) {
      const double product = kX[0] * key[0] + kX[1] * key[1] + kX[2] * key[2];
      scores.push_back(scaled ? product / std::sqrt(3) : product);
    }
    Graph g;
    const DotAttention attention({.scaled = scaled});
    expect_attended(attention(vector_input(g, kX), inputs(g, kKeys), inputs(g, kValues)), scores);
  }
}

TEST(DotAttention, HasGradientsByQueryKeysAndValues) {
  Model model;
  const Linear query(model / "query", 3, 3);
  const Linear key(model / "key", 3, 3);
  const Linear value(model / "value", 2, 2);
  randomise(model);
  check_gradients(model, [&](Graph& g) {
    std::vector<Expr> keys = inputs(g, kKeys);
    std::vector<Expr> values = inputs(g, kValues);
    for (Expr& expr : keys) expr = key(expr);
    for (Expr& expr : values) expr = value(expr);
    const Attended attended = DotAttention()(query(vector_input(g, kX)), keys, values);
    return asymmetric_sum(attended.value) + asymmetric_sum(attended.weights);
  });
}

TEST(DotAttention, RefusesListsThatDoNotFit) {
  Graph g;
  const Expr query = vector_input(g, kX);
  const std::vector<Expr> keys = inputs(g, kKeys);
  const DotAttention attention;
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { attention(query, keys, {query}); });
  EXPECT_EQ(text, "dot attention: the number of keys (4) and of values (1) differ\n  at " + here(line));
  EXPECT_THAT(refusal_of([&] { attention(query, {}, {}); }), StartsWith("dot attention: needs at least one key"));
}

TEST(AdditiveAttention, WeighsValuesByASmallNetwork) {
  Model model;
  const AdditiveAttention attention(model / "attention", 2, 3, 4);
  EXPECT_EQ(parameters_of(model),
            "attention.W_query [2, 4], attention.W_key [3, 4], attention.b [4], attention.v [4, 1]");
  randomise(model);
  const Weights w(model, "attention");
  const Vec query{0.7, -0.3};
  Vec scores;
  for (const Vec& key : kKeys) {
    double score = 0;
    for (std::size_t j = 0; j < 4; ++j)
      score += w.at("v", j) * std::tanh(w.product(query, "W_query", j) + w.product(key, "W_key", j) + w.at("b", j));
    scores.push_back(score);
  }
  Graph g;
  expect_attended(attention(vector_input(g, query), inputs(g, kKeys), inputs(g, kValues)), scores);
  check_gradients(model, [&](Graph& graph) {
    const Attended attended = attention(vector_input(graph, query), inputs(graph, kKeys), inputs(graph, kValues));
    return asymmetric_sum(attended.value) + asymmetric_sum(attended.weights);
  });
}

TEST(AdditiveAttention, NamesTheCallersLineForAKeyOfAnotherSize) {
  Model model;
  const AdditiveAttention attention(model / "attention", 2, 3, 4);
  Graph g;
  const Expr query = g.constant({2}, 1);
  const Expr key = g.constant({5}, 1);
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { attention(query, {key}, {key}); });
  EXPECT_THAT(text, StartsWith("linear: size of x (5) and rows of W (3) differ"));
  EXPECT_THAT(text, HasSubstr("at " + here(line)));
}

}  // namespace
}  // namespace espalier::nn
