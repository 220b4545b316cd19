/// Attention, both directions, convolution, stacking.
#include "espalier/blocks/sequence_models.h"

#include <gtest/gtest.h>

#include <vector>

#include "espalier/nn/attention.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::expect_gradients;
using testing::expect_three_ways;

Value vectors(int count) {
  std::vector<Value> items;
  for (int i = 0; i < count; ++i) items.push_back(Value::list({0.2 * i, 0.5 - 0.1 * i}));
  return Value::list(items);
}

Value query_and(int count) { return Value::map({{"query", Value::list({1, -1})}, {"words", vectors(count)}}); }

TEST(Attention, AgreesWithTheLayer) {
  const nn::DotAttention layer;
  const Block block = record({{"query", vector(2)}, {"words", map(vector(2))}}) >> attention(layer);
  const Value input = query_and(3);
  Graph graph({.training = false});
  const auto leaf = [&](const Value& value) {
    return graph.input(Tensor({2}, {static_cast<float>(value[0].as_float()), static_cast<float>(value[1].as_float())}));
  };
  const std::vector<Expr> words{leaf(input.at("words")[0]), leaf(input.at("words")[1]), leaf(input.at("words")[2])};
  EXPECT_EQ(eval(block, input).leaf(), layer(leaf(input.at("query")), words, words).value.value());
}

TEST(Attention, DifferentiatesWithKeysAndValues) {
  Model model;
  const nn::AdditiveAttention layer(model / "attention", 2, 2, 3);
  const nn::Linear value(model / "value", 2, 4);
  const Block block =
      all_of({get("query") >> vector(2), get("words") >> map(vector(2)), get("words") >> map(vector(2) >> value)}) >>
      attention(layer);
  expect_gradients(model, block, {query_and(3), query_and(1)});
  EXPECT_EQ(Program::of<Value>(block).output_type().to_text(), "float[4]");
}

TEST(Bidirectional, AgreesWithBiLstm) {
  Model model;
  const nn::BiLstm layer(model / "both", 2, 3);
  const Value input = vectors(4);
  const Block ours = map(vector(2)) >> bidirectional(layer.forward(), layer.backward());
  const Block theirs = map(vector(2)) >> function(layer);
  EXPECT_EQ(ours.output_type(), theirs.output_type());
  testing::expect_equal_values(to_value(eval(ours, input)), to_value(eval(theirs, input)), "both directions");
  expect_gradients(model, ours, {vectors(3), vectors(0), vectors(1)});
}

TEST(Pad, AddsZeros) {
  expect_three_ways(map(scalar()) >> pad(1, 2),
                    {{Value::list({5}), Value::list({0, 5, 0, 0})}, {Value::list({}), Value::list({0, 0, 0})}});
}

TEST(Conv, IsALayerOverWindows) {
  Model model;
  const nn::Linear layer(model / "layer", 6, 2);
  const Block none = map(vector(2)) >> conv(3, layer);
  const Block same = map(vector(2)) >> conv(3, layer, Padding::kSame);
  for (int length = 0; length < 6; ++length) {
    EXPECT_EQ(eval(none, vectors(length)).size(), static_cast<std::size_t>(std::max(0, length - 2)));
    EXPECT_EQ(eval(same, vectors(length)).size(), static_cast<std::size_t>(length));
  }
  expect_gradients(model, same, {vectors(4), vectors(1), vectors(2)});
}

TEST(Conv, AgreesWithTheOpOverOneTensor) {
  Model model;
  const nn::Linear layer(model / "layer", 6, 2, {.bias = false});
  const Block ours = map(vector(2)) >> conv(3, layer, Padding::kSame) >> stack(5);
  const Block theirs = all_of({map(vector(2)) >> stack(5), model.parameter("layer.W")}) >>
                       [](Expr x, Expr W) { return conv1d(x, W, Padding::kSame); };
  testing::expect_equal_values(to_value(eval(ours, vectors(5))), to_value(eval(theirs, vectors(5))), "conv");
}

TEST(Stack, FillsUpWithZeros) {
  const Block block = map(vector(2)) >> stack(3);
  const Value filled = Value::list({Value::list({0, 0.5}), Value::list({0, 0}), Value::list({0, 0})});
  expect_three_ways(block, {{vectors(1), filled}});
  EXPECT_EQ(Program::of<Value>(block).output_type().to_text(), "float[3, 2]");
}

}  // namespace
}  // namespace espalier::blocks
