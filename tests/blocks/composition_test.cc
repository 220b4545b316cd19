/// Pipes, records, several blocks over one input, any wiring.
#include "espalier/blocks/composition.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/nn/linear.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::expect_gradients;
using testing::expect_three_ways;

TEST(Pipe, DoesOneAfterTheOther) {
  const Block block = scalar() >> [](Expr x) { return x * 2; } >> [](Expr x) { return x + 1; };
  expect_three_ways(block, {{3, 7}, {-1, -1}});
}

TEST(Pipe, BracketsAndIdentitiesMakeNoDifference) {
  const auto half = [](Expr x) { return tanh(x); };
  const auto steps_of = [](const Block& block) {
    const Program program(block);
    Graph graph;
    program.record(graph, Value(0.5)).leaf().value();
    return graph.explain();
  };
  const std::string left = steps_of((scalar() >> half) >> half);
  EXPECT_EQ(steps_of(scalar() >> (function(half) >> half)), left);
  EXPECT_EQ(steps_of(scalar() >> identity() >> half >> (identity() >> identity()) >> half), left);
  EXPECT_EQ(((scalar() >> half) >> half).describe(), (scalar() >> (function(half) >> half)).describe());
}

TEST(Record, ReadsFieldsByName) {
  const Block block = record({{"b", scalar()}, {"a", vector(2)}});
  expect_three_ways(block,
                    {{Value::map({{"a", Value::list({1, 2})}, {"b", 3}}), Value::list({3, Value::list({1, 2})})}});
  EXPECT_EQ(block.output_type().to_text(), "(float[], float[2])");
}

TEST(Record, ReadsElementsByPlace) {
  expect_three_ways(record({scalar(), vector(2)}),
                    {{Value::list({3, Value::list({1, 2})}), Value::list({3, Value::list({1, 2})})}});
}

TEST(Record, TakesTuples) {
  const Block pair = all_of({scalar(), scalar()});
  const auto twice = [](Expr x) { return x * 2; };
  expect_three_ways(pair >> record({{"x", identity()}, {"y", twice}}), {{3, Value::list({3, 6})}});
  const Block listed = pair >> BlockArg{twice, identity()};
  expect_three_ways(listed, {{3, Value::list({6, 3})}});
}

TEST(AllOf, GivesTheInputToEach) {
  expect_three_ways(all_of({scalar(), scalar() >> [](Expr x) { return -x; }}), {{2, Value::list({2, -2})}});
  expect_three_ways(all_of({scalar()}), {{2, Value::list({2})}});
  EXPECT_EQ(all_of({scalar()}).output_type().to_text(), "(float[])");
  EXPECT_EQ(all_of(std::vector<BlockArg>()).output_type().to_text(), "void");
  expect_three_ways(all_of(std::vector<BlockArg>()), {{2, nullptr}});
}

TEST(Identity, IsItsInput) {
  expect_three_ways(identity(), {{"text", "text"}});
  const Block typed = identity().gives(3);
  EXPECT_EQ(typed.input_type().to_text(), "float[3]");
}

TEST(Nothing, SwallowsItsInput) {
  expect_three_ways(all_of({scalar() >> nothing(), scalar()}), {{2, Value::list({nullptr, 2})}});
}

TEST(Conversions, AreMadeWhereABlockIsWanted) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 1);
  const auto merge = cell("merge", [](Expr a, Expr b) { return tanh(a + b); });
  EXPECT_EQ((vector(2) >> layer).output_type().to_text(), "float[1]");
  EXPECT_EQ((all_of({vector(2), vector(2)}) >> merge).output_type().to_text(), "float[2]");
  EXPECT_EQ((vector(2) >> espalier::tanh).output_type().to_text(), "float[2]");
  EXPECT_EQ(all_of({model.parameter("layer.W"), Tensor({4})}).output_type().to_text(), "(float[2, 1], float[4])");
  EXPECT_EQ(BlockArg({scalar(), {scalar(), vector(2)}}).block().output_type().to_text(),
            "(float[], (float[], float[2]))");
}

TEST(Composition, WiresADiamond) {
  Composition diamond("diamond");
  const Wire x = diamond(scalar(), diamond.input());
  const Wire left = diamond([](Expr a) { return a * 2; }, x);
  const Wire right = diamond([](Expr a) { return a + 3; }, x);
  diamond.output().reads(diamond(add, {left, right}));
  expect_three_ways(diamond, {{1, 6}, {2, 9}});
}

TEST(Composition, MayBeConnectedInAnyOrder) {
  Composition c;
  const Wire sum = c.add(add);
  const Wire y = c.add(scalar());
  const Wire x = c.add(scalar());
  c.connect(sum, c.output());
  sum.reads({x, y});
  c.connect(c.input()[0], x);
  c.connect(c.input()[1], y);
  expect_three_ways(c, {{Value::list({1, 10}), 11}});
}

TEST(Composition, IndexesWiresAndNamesThem) {
  Composition c;
  const Wire parts = c(record({{"a", scalar()}, {"b", scalar()}}), c.input());
  c.name("parts", parts);
  c.output().reads(c([](Expr a, Expr b) { return a - b; }, {c.wire("parts")["b"], c.wire("parts")["a"]}));
  expect_three_ways(c, {{Value::map({{"a", 1}, {"b", 5}}), 4}});
}

TEST(Composition, NestsAndHasScopes) {
  Composition inner("inner");
  inner.output().reads(inner([](Expr x) { return x * x; }, inner.input()));
  Composition outer("outer");
  const Composition part = outer.scope("part");
  outer.output().reads(part(inner, part(scalar(), outer.input())));
  expect_three_ways(outer, {{3, 9}});
}

TEST(Composition, OutputOfSeveralWiresIsATuple) {
  Composition c;
  const Wire x = c(scalar(), c.input());
  c.output().reads({x, x});
  expect_three_ways(c, {{3, Value::list({3, 3})}});
}

TEST(Composition, DifferentiatesToLayersThatAreUsedTwice) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 2);
  const Block shared_layer = function(layer);  // one block in two places
  const Block both = record({{"a", vector(2) >> shared_layer}, {"b", vector(2) >> shared_layer >> shared_layer}});
  const Value input = Value::map({{"a", Value::list({1, 2})}, {"b", Value::list({0.5, -1})}});
  expect_gradients(model, both, {input, input});
}

}  // namespace
}  // namespace espalier::blocks
