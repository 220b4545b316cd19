/// Functions, constants, parameters, concatenation, zeros.
#include "espalier/blocks/tensor_blocks.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>
#include <utility>

#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/tree_lstm.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::expect_gradients;
using testing::expect_three_ways;

TEST(Function, TakesAndGivesManyKinds) {
  const Block pair = record({scalar(), scalar()});
  const Value input = Value::list({6, 2});
  expect_three_ways(pair >> [](Expr a, Expr b) { return a / b; }, {{input, 3}});
  expect_three_ways(pair >> [](Operand a, Operand b) { return a - b; }, {{input, 4}});
  expect_three_ways(pair >> [](std::pair<Expr, Expr> p) { return p.first + p.second; }, {{input, 8}});
  expect_three_ways(pair >>
                        [](const nn::LstmState& s) {
                          return nn::LstmState{s.c, s.h};
                        },
                    {{input, Value::list({2, 6})}});
  expect_three_ways(pair >> [](Expr a, Expr b) { return std::pair(b, a); }, {{input, Value::list({2, 6})}});
  expect_three_ways(pair >> [](Expr a, Expr b) { return std::array{b, a, b}; }, {{input, Value::list({2, 6, 2})}});
  expect_three_ways(pair >> [](Expr a, Expr b) { return std::tuple(b, std::pair(a, b)); },
                    {{input, Value::list({2, Value::list({6, 2})})}});
  expect_three_ways(map(scalar()) >> [](const Operands& all) { return sum(all); }, {{input, 8}});
  expect_three_ways(map(scalar()) >>
                        [](const std::vector<Expr>& all) {
                          return std::vector<Expr>{all[1], all[0], all[0]};
                        },
                    {{input, Value::list({2, 6, 6})}});
}

TEST(Function, MixesTensorsAndInputs) {
  const Block picked = all_of({get("x") >> vector(3), get("i")}) >> [](Expr x, int i) { return pick(x, i); };
  expect_three_ways(picked, {{Value::map({{"x", Value::list({5, 6, 7})}, {"i", 2}}), 7}});
  const Block scaled = all_of({get("x") >> vector(2), get("f")}) >> [](Expr x, double f) { return x * f; };
  expect_three_ways(scaled, {{Value::map({{"x", Value::list({5, 6})}, {"f", 0.5}}), Value::list({2.5, 3})}});
}

TEST(Function, MayUseTheGraph) {
  const Block filled = function([](Graph& graph, double x) { return graph.constant(Shape{2}, x); });
  expect_three_ways(filled, {{3, Value::list({3, 3})}});
}

TEST(Function, KnowsTheTypesOfLayers) {
  Model model;
  EXPECT_EQ(function(nn::Linear(model / "a", 2, 3)).input_type().to_text(), "float[2]");
  const Block lstm = function(nn::LstmCell(model / "b", 2, 3));
  EXPECT_EQ(lstm.input_type().to_text(), "(float[2], (float[3], float[3]))");
  EXPECT_EQ(lstm.output_type().to_text(), "(float[3], float[3])");
  EXPECT_EQ(function(nn::BinaryTreeLstm(model / "c", 2, 3)).output_type().to_text(), "(float[3], float[3])");
  EXPECT_EQ(function(nn::Embedding(model / "d", 5, 4)).output_type().to_text(), "float[4]");
}

TEST(FromTensor, IsAConstantOrAParameter) {
  expect_three_ways(from_tensor(Tensor({2}, {1, 2})), {{"anything", Value::list({1, 2})}});
  Model model;
  Parameter& p = model.add("p", {2}, init::constant(3));
  const Block both = all_of({vector(2), p}) >> [](Expr x, Expr y) { return x * y; };
  expect_three_ways(both, {{Value::list({1, 2}), Value::list({3, 6})}});
  expect_gradients(model, both, {Value::list({1, 2}), Value::list({5, 7})});
}

TEST(Concat, JoinsAlongAnAxis) {
  expect_three_ways(record({vector(2), scalar(), vector(1)}) >> concat(),
                    {{Value::list({Value::list({1, 2}), 3, Value::list({4})}), Value::list({1, 2, 3, 4})}});
  const Value a = Value::list({Value::list({1}), Value::list({2})});
  const Value b = Value::list({Value::list({3}), Value::list({4})});
  const Value joined = Value::list({Value::list({1, 3}), Value::list({2, 4})});
  expect_three_ways(record({tensor({2, 1}), tensor({2, 1})}) >> concat({.axis = -1}), {{Value::list({a, b}), joined}});
  EXPECT_EQ((record({tensor({2, 1}), tensor({3, 1})}) >> concat()).output_type().to_text(), "float[5, 1]");
}

TEST(Concat, FlattensTuples) {
  const Block nested = record({scalar(), BlockArg{scalar(), vector(2)}}) >> concat({.flatten = true});
  expect_three_ways(nested, {{Value::list({1, Value::list({2, Value::list({3, 4})})}), Value::list({1, 2, 3, 4})}});
}

TEST(Zeros, OfEveryTypeThatHasSome) {
  expect_three_ways(zeros("(float[2], (float[], seq<float[3]>))"),
                    {{1, Value::list({Value::list({0, 0}), Value::list({0, Value::list({})})})}});
  const Block wanted = zeros();
  const Block sum_of_two = all_of({vector(2), wanted}) >> [](Expr a, Expr b) { return a + b; };
  EXPECT_EQ(wanted.output_text(), "?");
  static_cast<void>(wanted.gives(2));
  expect_three_ways(sum_of_two, {{Value::list({1, 2}), Value::list({1, 2})}});
}

}  // namespace
}  // namespace espalier::blocks
