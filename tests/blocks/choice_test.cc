/// one_of(), optional().
#include "espalier/blocks/choice.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "espalier/nn/linear.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::expect_gradients;
using testing::expect_three_ways;
using testing::negate;

TEST(OneOf, ChoosesByATextOfTheData) {
  const Block block = one_of(key("kind"), {{"plus", get("x") >> scalar()}, {"minus", get("x") >> scalar() >> negate}});
  expect_three_ways(block,
                    {{Value::map({{"kind", "plus"}, {"x", 3}}), 3}, {Value::map({{"x", 4}, {"kind", "minus"}}), -4}});
}

TEST(OneOf, ChoosesByNumbersFunctionsAndTheInputItself) {
  const Block by_size = one_of(key([](const Value& list) { return list.size() > 1; }),
                               {{true, get(1) >> scalar()}, {false, zeros(Shape{})}});
  expect_three_ways(by_size, {{Value::list({1, 2}), 2}, {Value::list({}), 0}});
  const Block by_itself = one_of(itself(), {{-1, scalar() >> negate}, {5, scalar()}});
  expect_three_ways(by_itself, {{-1, 1}, {5, 5}});
}

TEST(OneOf, GivesCasesWhatComesBefore) {
  const Block block = one_of(key("kind"), {{"plus", identity()}, {"minus", negate}}, get("x") >> scalar());
  expect_three_ways(block,
                    {{Value::map({{"kind", "plus"}, {"x", 3}}), 3}, {Value::map({{"x", 4}, {"kind", "minus"}}), -4}});
}

TEST(OneOf, ReadsTheKeyFromTheFirstOfATuple) {
  const Block pair = all_of({get("kind"), get("x") >> scalar()});
  const Block block = pair >> one_of(itself(), {{"plus", get(1)}, {"minus", get(1) >> negate}});
  expect_three_ways(block,
                    {{Value::map({{"kind", "plus"}, {"x", 3}}), 3}, {Value::map({{"x", 4}, {"kind", "minus"}}), -4}});
}

TEST(OneOf, DifferentiatesEachCase) {
  Model model;
  const Block block = one_of(key("kind"), {{0, get("x") >> vector(2) >> nn::Linear(model / "a", 2, 1)},
                                           {1, get("x") >> vector(2) >> nn::Linear(model / "b", 2, 1)}});
  const auto input = [](int kind) { return Value::map({{"kind", kind}, {"x", Value::list({kind + 0.5, 2})}}); };
  expect_gradients(model, block, {input(0), input(1), input(1)});
}

TEST(Optional, IsZeroForNull) {
  expect_three_ways(optional(scalar()), {{nullptr, 0}, {3, 3}});
  expect_three_ways(optional(map(scalar())), {{nullptr, Value::list({})}, {Value::list({3}), Value::list({3})}});
  expect_three_ways(optional(scalar(), Tensor(Shape{}, {7})), {{nullptr, 7}, {3, 3}});
}

TEST(Optional, TakesEmptyOptionalsAndPointers) {
  const Block block = optional(scalar(), Tensor(Shape{}, {-1}));
  const Program program = Program::of<double>(block);
  EXPECT_EQ(program.eval(std::optional<double>()).item(), -1);
  EXPECT_EQ(program.eval(std::optional<double>(2)).item(), 2);
  EXPECT_EQ(program.eval(std::unique_ptr<double>()).item(), -1);
  EXPECT_EQ(program.eval(std::make_shared<double>(4)).item(), 4);
  EXPECT_EQ(program.eval(static_cast<const double*>(nullptr)).item(), -1);
}

TEST(Optional, ZerosCostNoStep) {
  const Program program(optional(scalar()));
  Graph graph;
  program.record(graph, Value(nullptr)).leaf().value();
  EXPECT_EQ(graph.statistics().steps, 0);
}

}  // namespace
}  // namespace espalier::blocks
