/// Blocks over sequences.
#include "espalier/blocks/sequence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::Example;
using testing::expect_gradients;
using testing::expect_three_ways;

const auto divide = [](Expr a, Expr b) { return a / b; };

Value numbers(int count, double step = 1) {
  std::vector<Value> items;
  for (int i = 1; i <= count; ++i) items.emplace_back(step * i);
  return Value::list(items);
}

Value vectors(int count, double step) {
  std::vector<Value> items;
  for (int i = 0; i < count; ++i) items.push_back(Value::list({step * i, 0.3 - step * i}));
  return Value::list(items);
}

TEST(Map, RunsForEachElement) {
  expect_three_ways(map(scalar()), {{numbers(3), numbers(3)}, {numbers(0), numbers(0)}, {numbers(1), numbers(1)}});
  const Value jagged = Value::list({Value::list({numbers(2), numbers(0)}), Value::list({}), Value::list({numbers(3)})});
  expect_three_ways(map(map(map(scalar()))), {{jagged, jagged}});
}

TEST(Map, TakesTuplesAndInfiniteSequences) {
  const Block pair = record({scalar(), scalar()});
  expect_three_ways(pair >> map([](Expr x) { return x * 2; }), {{Value::list({1, 2}), Value::list({2, 4})}});
  const Block endless = scalar() >> broadcast() >> map([](Expr x) { return x + 1; });
  EXPECT_EQ(endless.output_type().to_text(), "inf<float[]>");
  expect_three_ways(endless, {{4, 5}});
}

TEST(Fold, GoesFromTheFirstToTheLast) {
  const Block one_over = map(scalar()) >> fold(divide, Tensor(Shape{}, {1}));
  expect_three_ways(one_over, {{numbers(4), 1.0 / 24}, {numbers(0), 1}, {numbers(1), 1}});
  std::vector<Value> ones(1000, 1);
  expect_three_ways(map(scalar()) >> fold(add, zeros(Shape{})), {{Value::list(ones), 1000}});
}

TEST(Fold, CarriesNestedStates) {
  using State = std::pair<Expr, std::pair<Expr, Expr>>;
  const auto step = [](State s, Expr x) { return State{s.first + x, {s.first, s.second.first}}; };
  const Block block = map(scalar()) >> fold(step, zeros("(float[], (float[], float[]))"));
  expect_three_ways(block, {{numbers(3), Value::list({6, Value::list({3, 1})})}});
}

TEST(Rnn, GivesOutputsAndTheLastState) {
  const auto running = [](Expr x, Expr s) { return std::pair(s * 10, x + s); };
  const Block block = map(scalar()) >> rnn(running, Tensor(Shape{}, {1}));
  expect_three_ways(block, {{numbers(3), Value::list({Value::list({10, 20, 40}), 7})},
                            {numbers(0), Value::list({Value::list({}), 1})}});
  const Block from_input = record({map(scalar()), scalar()}) >> rnn_from(running);
  expect_three_ways(from_input, {{Value::list({numbers(2), 5}), Value::list({Value::list({50, 60}), 8})}});
}

TEST(Rnn, TakesCellsAsTheyAre) {
  Model model;
  const nn::LstmCell lstm(model / "lstm", 2, 3);
  const nn::GruCell gru(model / "gru", 3, 2);
  const Block block = map(vector(2)) >> rnn(lstm) >> get(0) >> rnn(gru);
  EXPECT_EQ(block.output_type().to_text(), "(seq<float[2]>, float[2])");
  expect_gradients(model, block, {vectors(3, 0.2), vectors(1, 0.1), vectors(0, 0)});
}

TEST(Rnn, AgreesWithPlainCode) {
  Model model;
  const nn::LstmCell lstm(model / "lstm", 2, 3);
  const Block block = map(vector(2)) >> rnn(lstm) >> get(1) >> get(0);
  const Value input = vectors(4, 0.3);
  Graph graph({.training = false});
  nn::LstmState state = lstm.initial(graph);
  for (const Value& item : input.items())
    state =
        lstm(graph.input(Tensor({2}, {static_cast<float>(item[0].as_float()), static_cast<float>(item[1].as_float())})),
             state);
  EXPECT_EQ(eval(block, input).leaf(), state.h.value());
}

TEST(Reduce, PairsNeighboursInRounds) {
  const Block quotient = map(scalar()) >> reduce(divide);
  expect_three_ways(
      quotient,
      {{numbers(4), 2.0 / 3}, {numbers(1), 1}, {numbers(0), 0}, {numbers(3), 1.0 / 6}, {numbers(5), 2.0 / 3 / 5}});
  expect_three_ways(map(scalar()) >> reduce(divide, Tensor(Shape{}, {9})), {{numbers(0), 9}});
}

TEST(Reduce, IsAsDeepAsTheLogarithm) {
  const Program program(map(scalar()) >> reduce(add));
  for (int n = 1; n <= 33; ++n) {
    Graph graph({.strategy = Strategy::kDepth});
    program.record(graph, numbers(n)).leaf().value();
    EXPECT_EQ(graph.statistics().steps, static_cast<int>(std::ceil(std::log2(n)))) << n;
  }
}

TEST(Reduce, KeepsTheOrder) {
  const auto join = [](Expr a, Expr b) { return a * 2 + b; };
  for (int n = 1; n <= 20; ++n) {
    std::vector<double> level;
    for (int i = 1; i <= n; ++i) level.push_back(i);
    while (level.size() > 1) {
      std::vector<double> next;
      for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] * 2 + level[i + 1]);
      if (level.size() % 2 == 1) next.push_back(level.back());
      level = next;
    }
    EXPECT_EQ(eval(map(scalar()) >> reduce(join), numbers(n)).item(), level[0]) << n;
  }
}

TEST(Sums, OfScalarsVectorsAndMatrices) {
  expect_three_ways(map(scalar()) >> sum(), {{numbers(4), 10}, {numbers(0), 0}, {numbers(1), 1}});
  expect_three_ways(map(scalar()) >> min(), {{numbers(4), 1}, {numbers(0), 0}});
  expect_three_ways(map(scalar()) >> max(), {{numbers(4), 4}, {numbers(0), 0}});
  expect_three_ways(map(scalar()) >> mean(), {{numbers(4), 2.5}, {numbers(0), 0}});
  expect_three_ways(map(vector(2)) >> max(), {{vectors(3, 1), Value::list({2, 0.3})}});
  const Value matrix = Value::list({Value::list({1, 2}), Value::list({3, 4})});
  const Value twice = Value::list({Value::list({2, 4}), Value::list({6, 8})});
  expect_three_ways(map(tensor({2, 2})) >> sum(), {{Value::list({matrix, matrix}), twice}});
  expect_three_ways(record({scalar(), scalar()}) >> sum(), {{numbers(2), 3}});
}

TEST(Sums, Differentiate) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 2);
  const Block block = map(vector(2) >> layer) >> all_of({sum(), mean(), reduce(add)});
  expect_gradients(model, block, {vectors(3, 0.2), vectors(0, 0), vectors(1, 0.5)});
}

TEST(Zip, IsAsLongAsTheShortest) {
  const Block pairs = record({map(scalar()), map(scalar())}) >> zip();
  const Value zipped = Value::list({Value::list({1, 1}), Value::list({2, 2})});
  expect_three_ways(
      pairs, {{Value::list({numbers(2), numbers(5)}), zipped}, {Value::list({numbers(3), numbers(0)}), numbers(0)}});
  const Block repeated = record({map(scalar()), scalar() >> broadcast()}) >> zip_with(add);
  expect_three_ways(repeated, {{Value::list({numbers(3), 10}), Value::list({11, 12, 13})}});
  const Block endless = record({scalar() >> broadcast(), scalar() >> broadcast()}) >> zip();
  EXPECT_EQ(endless.output_type().to_text(), "inf<(float[], float[])>");
}

TEST(Ngrams, OfInfiniteSequences) {
  const Block endless = scalar() >> broadcast() >> ngrams(2);
  EXPECT_EQ(endless.output_type().to_text(), "inf<(float[], float[])>");
  expect_three_ways(endless, {{3, Value::list({3, 3})}});
}

TEST(Length, CountsElementsAndItems) {
  expect_three_ways(length(), {{numbers(4), 4}, {numbers(0), 0}});
  expect_three_ways(map(scalar()) >> length(), {{numbers(4), 4}});
  expect_three_ways(record({scalar(), vector(2)}) >> length(), {{Value::list({1, numbers(2)}), 2}});
}

TEST(Nth, IsChosenByTheData) {
  const Block chosen = record({map(scalar()), identity()}) >> nth();
  expect_three_ways(chosen, {{Value::list({numbers(4), 1}), 2}, {Value::list({numbers(4), -1}), 4}});
}

}  // namespace
}  // namespace espalier::blocks
