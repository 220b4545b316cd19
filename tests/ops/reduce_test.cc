/// What the conformance tests cannot know of ops that reduce: NaN, ties, extreme numbers, the axes a user may write.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Expr vector(Graph& graph, std::vector<float> values) {
  return graph.input({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<float> numbers(const Tensor& tensor) {
  const std::span<const float> values = tensor.as<float>();
  return {values.begin(), values.end()};
}

/// The gradients, by each of `by`, of y's elements weighted 1, 2, 3 and so on.
std::vector<std::vector<float>> gradients(const Expr& y, const std::vector<Expr>& by) {
  std::vector<float> weights(static_cast<std::size_t>(y.shape().elements()));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i + 1);
  const Expr flat = flatten(y);
  dot(flat, vector(y.graph(), weights)).backward({.into = nullptr, .wanted = by});
  std::vector<std::vector<float>> result;
  for (const Expr& x : by) result.push_back(numbers(x.grad()));
  return result;
}

std::vector<GraphOptions> both_executions() {
  GraphOptions kernels;
  GraphOptions plain;
  plain.execution = Execution::kPlain;
  return {kernels, plain};
}

TEST(MaximumOfTensors, PassesNanAndGivesItTheGradient) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr a = vector(graph, {1, kNan, 5, kNan});
    const Expr b = vector(graph, {2, 3, kNan, kNan});
    const Expr y = max({a, b});
    EXPECT_EQ(numbers(y.value())[0], 2);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(numbers(y.value())[i]));
    const auto grads = gradients(y, {a, b});
    EXPECT_EQ(grads[0], (std::vector<float>{0, 2, 0, 4}));
    EXPECT_EQ(grads[1], (std::vector<float>{1, 0, 3, 0}));
  }
}

TEST(MinimumOfTensors, PassesNanAndGivesItTheGradient) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr a = vector(graph, {1, kNan, 5, kNan});
    const Expr b = vector(graph, {2, 3, kNan, kNan});
    const Expr y = min({a, b});
    EXPECT_EQ(numbers(y.value())[0], 1);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(numbers(y.value())[i]));
    const auto grads = gradients(y, {a, b});
    EXPECT_EQ(grads[0], (std::vector<float>{1, 2, 0, 4}));
    EXPECT_EQ(grads[1], (std::vector<float>{0, 0, 3, 0}));
  }
}

TEST(MaximumOfTensors, GivesTiesToTheFirst) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr a = vector(graph, {1, 2, -kInfinity});
    const Expr b = vector(graph, {3, 2, -kInfinity});
    const Expr c = vector(graph, {3, 2, -kInfinity});
    const auto of_max = gradients(maximum({a, b, c}), {a, b, c});
    EXPECT_EQ(of_max[0], (std::vector<float>{0, 2, 3}));
    EXPECT_EQ(of_max[1], (std::vector<float>{1, 0, 0}));
    EXPECT_EQ(of_max[2], (std::vector<float>{0, 0, 0}));
    const auto of_min = gradients(minimum({c, b, a}), {a, b, c});
    EXPECT_EQ(of_min[0], (std::vector<float>{1, 0, 0}));
    EXPECT_EQ(of_min[1], (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(of_min[2], (std::vector<float>{0, 2, 3}));
  }
}

TEST(MaxOverAnAxis, PassesNanAndGivesTiesToTheFirst) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const std::vector<float> values{1, 4, 4, 2, kNan, kNan, 7, 7, 7};
    const Expr x = graph.input({3, 3}, values);
    const Expr rows = max(x, 1);
    EXPECT_EQ(numbers(rows.value())[0], 4);
    EXPECT_TRUE(std::isnan(numbers(rows.value())[1]));
    EXPECT_EQ(numbers(rows.value())[2], 7);
    EXPECT_EQ(gradients(rows, {x})[0], (std::vector<float>{0, 1, 0, 0, 2, 0, 3, 0, 0}));
    const Expr columns = max_pool(x);
    EXPECT_EQ(numbers(columns.value())[0], 7);
    EXPECT_TRUE(std::isnan(numbers(columns.value())[1]));
    EXPECT_EQ(gradients(columns, {x})[0], (std::vector<float>{0, 0, 0, 0, 2, 3, 1, 0, 0}));
    EXPECT_EQ(gradients(min(x, 1), {x})[0], (std::vector<float>{1, 0, 0, 0, 2, 0, 3, 0, 0}));
  }
}

TEST(MaxPool, TakesASequenceOfAnyLength) {
  Graph graph;
  for (const std::int64_t length : {1, 2, 9}) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < 2 * length; ++i) values.push_back(static_cast<float>(i % 2 == 0 ? i : -i));
    const Tensor y = max_pool(graph.input({length, 2}, values)).value();
    EXPECT_EQ(numbers(y), (std::vector<float>{static_cast<float>(2 * length - 2), -1}));
  }
}

TEST(MaxPool, OverOneWindowIsTheWholeSequence) {
  Graph graph;
  const Expr x = graph.input({3, 2}, std::vector<float>{1, 7, 5, 7, kNan, 2});
  const Expr whole = max_pool(x);
  const Expr window = max_pool(x, 3);
  EXPECT_EQ(window.shape(), Shape({1, 2}));
  EXPECT_EQ(numbers(window.value())[1], 7);
  EXPECT_TRUE(std::isnan(numbers(window.value())[0]));
  EXPECT_EQ(gradients(window, {x}), gradients(whole, {x}));
  EXPECT_EQ(gradients(window, {x})[0], (std::vector<float>{0, 2, 0, 0, 1, 0}));
}

TEST(AxisReductions, CountNegativeAxesFromTheLast) {
  Graph graph;
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((7 * i) % 24);
  const Expr x = graph.input({2, 3, 4}, values);
  for (std::int32_t axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(sum(x, axis - 3).value(), sum(x, axis).value());
    EXPECT_EQ(mean(x, axis - 3).value(), mean(x, axis).value());
    EXPECT_EQ(max(x, axis - 3).value(), max(x, axis).value());
    EXPECT_EQ(min(x, axis - 3).value(), min(x, axis).value());
  }
  EXPECT_EQ(sum(x, -1).shape(), Shape({2, 3}));
  EXPECT_THROW(sum(x, -4), UsageError);
}

TEST(AxisReductions, NodesWrittenWithANegativeAxisHaveTheSameSignature) {
  Graph graph;
  const Expr x = vector(graph, {1, 2, 3});
  EXPECT_EQ(graph.signature_id(sum(x, -1).node()), graph.signature_id(sum(x, 0).node()));
}

TEST(WeightNorm, AColumnOfZerosStaysOneAndGetsNoGradient) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr V = graph.input({2, 2}, std::vector<float>{0, 3, 0, 4});
    const Expr g = vector(graph, {7, 10});
    const Expr W = weight_norm(V, g);
    EXPECT_EQ(numbers(W.value()), (std::vector<float>{0, 6, 0, 8}));
    const auto grads = gradients(W, {V, g});
    EXPECT_EQ(grads[0][0], 0);
    EXPECT_EQ(grads[0][2], 0);
    EXPECT_EQ(grads[1][0], 0);
    EXPECT_NEAR(grads[1][1], 2 * 0.6 + 4 * 0.8, 1e-5);
  }
}

TEST(SumElements, AddsAllElementsOfAnyShape) {
  Graph graph;
  const Expr x = graph.input({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 9});
  EXPECT_EQ(sum_elements(x).scalar(), 24);
  EXPECT_EQ(mean_elements(x).scalar(), 4);
  EXPECT_EQ(sum_elements(graph.constant(3)).scalar(), 3);
  EXPECT_EQ(mean_elements(vector(graph, {1, 2})).scalar(), 1.5);
}

TEST(SumOverAnAxis, OfNothingIsZero) {
  Graph graph;
  const Expr x = graph.input({0, 2}, std::vector<float>{});
  EXPECT_EQ(numbers(sum(x, 0).value()), (std::vector<float>{0, 0}));
}

TEST(MeanOfTensors, DividesByTheirNumber) {
  Graph graph;
  std::vector<Expr> many;
  for (int i = 0; i < 100; ++i) many.push_back(graph.constant(i));
  const Expr all = mean(many);
  EXPECT_EQ(all.scalar(), 49.5);
  EXPECT_EQ(graph.signature_id(all.node()), graph.signature_id(mean({many[0]}).node()));
}

TEST(Softmax, RowsSumToOneHoweverLargeTheNumbers) {
  Graph graph;
  std::vector<float> values(1003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e4F * std::sin(static_cast<float>(i));
  values[500] = 3e38F;
  const std::vector<float> y = numbers(softmax(vector(graph, values)).value());
  double total = 0;
  for (float p : y) total += static_cast<double>(p);
  EXPECT_NEAR(total, 1, 1e-6);
  EXPECT_EQ(y[500], 1);
}

TEST(Softmax, GivesNothingToMinusInfinity) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr x = vector(graph, {0, -kInfinity, 0});
    EXPECT_EQ(numbers(softmax(x).value()), (std::vector<float>{0.5F, 0, 0.5F}));
    EXPECT_EQ(numbers(log_softmax(x).value())[1], -kInfinity);
    for (const auto& gradient : gradients(softmax(x), {x}))
      for (float g : gradient) EXPECT_FALSE(std::isnan(g));
  }
}

TEST(LogSoftmax, KeepsTheSmallDifferencesOfLargeNumbers) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const std::vector<float> y = numbers(log_softmax(vector(graph, {1e6F, 1e6F, 0})).value());
    EXPECT_NEAR(y[0], -0.6931472F, 1e-7F);
    EXPECT_NEAR(y[1], -0.6931472F, 1e-7F);
    EXPECT_NEAR(y[2], -1e6F - 0.6931472F, 0.07F);  // float32 is that coarse there
  }
}

TEST(Logsumexp, OfMinusInfinityOnlyIsMinusInfinityWithoutGradient) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr x = vector(graph, {-kInfinity, -kInfinity});
    const Expr y = logsumexp(x);
    EXPECT_EQ(y.scalar(), -kInfinity);
    EXPECT_EQ(gradients(y, {x})[0], (std::vector<float>{0, 0}));
    EXPECT_EQ(logsumexp(vector(graph, {1, kInfinity})).scalar(), kInfinity);
    EXPECT_TRUE(std::isnan(logsumexp(vector(graph, {1, kNan})).scalar()));
    EXPECT_TRUE(std::isnan(logsumexp(vector(graph, {kInfinity, kNan})).scalar()));
  }
}

TEST(CrossEntropy, IsExactForExtremeLogits) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr x = vector(graph, {1e4F, 0, -1e4F});
    EXPECT_EQ(cross_entropy(x, 0).scalar(), 0);
    EXPECT_EQ(cross_entropy(x, 2).scalar(), 2e4);
    EXPECT_EQ(gradients(cross_entropy(x, 2), {x})[0], (std::vector<float>{1, 0, -1}));
    // -log(1 / (1 + e^-20)) = log(1 + e^-20), which 1 - softmax could not give in float32.
    const Expr sure = vector(graph, {20, 0});
    EXPECT_NEAR(gradients(cross_entropy(sure, 0), {sure})[0][1], 2.0611537e-9F, 1e-14F);
  }
}

TEST(CrossEntropy, EqualsTheLogSoftmaxPicked) {
  Graph graph;
  const Expr x = vector(graph, {0.25F, -1.5F, 2, 0.75F});
  for (std::int32_t label = 0; label < 4; ++label)
    EXPECT_NEAR(cross_entropy(x, label).scalar(), -pick(log_softmax(x), label).scalar(), 1e-6);
}

TEST(CrossEntropy, NodesOfDifferentLabelsHaveOneSignature) {
  Graph graph;
  const Expr x = vector(graph, {1, 2, 3});
  EXPECT_EQ(graph.signature_id(cross_entropy(x, 0).node()), graph.signature_id(cross_entropy(x, 2).node()));
}

TEST(L2Norm, HasNoSlopeAtZero) {
  for (const GraphOptions& options : both_executions()) {
    Graph graph(options);
    const Expr x = vector(graph, {0, 0, 0});
    EXPECT_EQ(gradients(l2_norm(x), {x})[0], (std::vector<float>{0, 0, 0}));
  }
}

TEST(LayerNorm, OfEqualElementsIsTheBias) {
  Graph graph;
  const Expr x = vector(graph, {3, 3, 3, 3});
  const Expr gain = vector(graph, {1, 2, 3, 4});
  const Expr bias = vector(graph, {5, 6, 7, 8});
  EXPECT_EQ(layer_norm(x, gain, bias).value(), bias.value());
}

TEST(LayerNorm, DoesNotDependOnALargeMean) {
  Graph graph;
  const Expr gain = vector(graph, {1, 1, 1, 1});
  const Expr bias = vector(graph, {0, 0, 0, 0});
  const Expr near = layer_norm(vector(graph, {-3, -1, 1, 3}), gain, bias);
  const Expr far = layer_norm(vector(graph, {99997, 99999, 100001, 100003}), gain, bias);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(numbers(near.value())[i], numbers(far.value())[i], 1e-6F);
}

}  // namespace
}  // namespace espalier
