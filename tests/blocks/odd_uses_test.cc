/// Uses that nobody planned: nothing where something is expected, what has no end in odd places, much of everything,
/// blocks in several places, programs that outlive what they were made of.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/nn/attention.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::expect_three_ways;
using testing::negate;

Value list(std::vector<Value> items) { return Value::list(std::move(items)); }
const Value kNone = Value::list({});

TEST(Empty, SequencesPassThroughEverything) {
  Model model;
  const nn::LstmCell lstm(model / "lstm", 2, 2);
  const auto empty_to = [](const Block& block, const Value& expected) {
    expect_three_ways(map(vector(2)) >> block, {{kNone, expected}});
  };
  const Value zero = list({0, 0});
  empty_to(map(negate), kNone);
  empty_to(map(negate) >> map(negate) >> slice({.step = -1}), kNone);
  empty_to(slice({.start = 5, .stop = -7, .step = -3}), kNone);
  empty_to(ngrams(1), kNone);
  empty_to(ngrams(3) >> map(concat()) >> pad(0, 0), kNone);
  empty_to(pad(1, 0) >> get(0), zero);
  empty_to(stack(1), list({zero}));
  empty_to(rnn(lstm), list({kNone, list({zero, zero})}));
  empty_to(bidirectional(lstm, lstm) >> sum(), list({0, 0, 0, 0}));
  empty_to(conv(3, negate, Padding::kSame), kNone);
  empty_to(all_of({identity(), identity()}) >> zip() >> map(function(add)) >> reduce(add), zero);
  empty_to(all_of({length(), length()}) >> function(add), 0);
  empty_to(fold(add, zeros(2)), zero);
  expect_three_ways(map(map(vector(2)) >> mean()) >> max(), {{kNone, zero}, {list({kNone, kNone}), zero}});
}

TEST(Empty, SequenceHasNoElementToTake) {
  const Block first = map(scalar()) >> get(0);
  EXPECT_EQ(testing::refusal_of([&] { eval(first, kNone); }),
            "get(0): there is no element 0 in a sequence of 0\n  in instance 0");
  const Block attended = record({vector(1), map(vector(1))}) >> attention(nn::DotAttention());
  EXPECT_THROW(eval(attended, list({list({1}), kNone})), UsageError);
}

TEST(Optional, MayBeNested) {
  expect_three_ways(optional(optional(scalar())), {{nullptr, 0}, {2, 2}});
  expect_three_ways(map(optional(map(optional(scalar(), Tensor(Shape{}, {7}))))),
                    {{list({nullptr, list({nullptr, 1}), kNone}), list({kNone, list({7, 1}), kNone})}});
  const Program program = Program::of<std::vector<std::optional<double>>>(map(optional(scalar())) >> sum());
  EXPECT_EQ(program.eval(std::vector<std::optional<double>>{1, std::nullopt, 3}).item(), 4);
}

TEST(Infinite, InOddPlaces) {
  const auto endless = [] { return scalar() >> broadcast(); };
  expect_three_ways(map(endless()), {{list({1, 2}), list({1, 2})}, {kNone, kNone}});
  EXPECT_EQ(Program(map(endless())).output_type().to_text(), "seq<inf<float[]>>");
  expect_three_ways(endless() >> broadcast(), {{1, 1}});
  expect_three_ways(endless() >> ngrams(3) >> map(sum()), {{2, 6}});
  expect_three_ways(all_of({endless(), endless()}) >> zip_with(add), {{2, 4}});
  expect_three_ways(one_of(itself(), {{1, endless()}, {2, endless() >> map(negate)}}), {{1, 1}, {2, -2}});
  expect_three_ways(endless() >> tap("t") >> map(negate), {{1, -1}});
  expect_three_ways(all_of({map(scalar()), length() >> broadcast() >> broadcast()}) >> zip() >>
                        map(all_of({get(0), get(1)}) >> get(1)),
                    {{list({5, 6}), list({2, 2})}});
}

TEST(Huge, TuplesAreOrdinary) {
  constexpr std::size_t kItems = 3000;
  std::vector<BlockArg> items(kItems, get(0) >> scalar());
  std::vector<Value> expected(kItems, 4);
  const Block wide = all_of(items);
  expect_three_ways(wide, {{list({4}), list(expected)}});
  expect_three_ways(all_of(items) >> sum(), {{list({4}), 4.0 * kItems}});
  expect_three_ways(all_of(items) >> slice({.start = -1, .step = -2}) >> length(), {{list({4}), 1.0 * kItems / 2}});
  expect_three_ways(all_of(items) >> get(-1), {{list({4}), 4}});
}

TEST(Huge, PipesAndNestingAreOrdinary) {
  Block pipe = scalar();
  for (int i = 0; i < 1000; ++i) pipe = pipe >> [](Expr x) { return x + 1; };
  EXPECT_EQ(eval(pipe, 0).item(), 1000);
  Block nested = scalar();
  for (int i = 0; i < 200; ++i) nested = all_of({nested}) >> get(0);
  EXPECT_EQ(eval(nested, 3).item(), 3);
}

TEST(Recursion, ThroughMapFoldChoiceAndOptional) {
  // A node is its number and those of its children, folded; children may be null.
  Forward tree = forward("tree");
  const Block children = get("children") >> map(optional(tree())) >> fold(add, zeros(Shape{}));
  const Block inner = all_of({get("x") >> scalar(), children}) >> function(add);
  tree.resolve_to(one_of(key([](const Value& v) { return v.is_map(); }), {{true, inner}, {false, scalar()}}));
  const auto node = [](double x, std::vector<Value> below) {
    return Value::map({{"x", x}, {"children", list(std::move(below))}});
  };
  expect_three_ways(tree(), {{5, 5}, {node(1, {}), 1}, {node(1, {nullptr, 2, node(3, {4, nullptr})}), 10}});
}

TEST(Recursion, InsideTheStepOfAFold) {
  // The step of the fold over a list runs the whole model on each element.
  Forward total = forward("total");
  const Block step = all_of({get(0), get(1) >> total()}) >> function(add);
  const Block over = map(identity()) >> fold(step, zeros(Shape{}));
  total.resolve_to(one_of(key([](const Value& v) { return v.is_list(); }), {{true, over}, {false, scalar()}}));
  expect_three_ways(total(), {{3, 3}, {list({1, list({2, list({}), list({3})}), 4}), 10}});
}

TEST(Recursion, StatesMayBeSwappedAsTheyAreCarried) {
  // (a, b) -> (b, a + x), by blocks that only rearrange: what is written must not be what is still to be read.
  const Block swap = all_of({get(0) >> get(1), all_of({get(0) >> get(0), get(1)}) >> function(add)});
  const Block block = map(scalar()) >> fold(swap, all_of({Tensor(Shape{}, {1}), Tensor(Shape{}, {10})}));
  expect_three_ways(block, {{list({1, 2}), list({2, 12})}, {list({1, 2, 3}), list({12, 5})}});
  const Block turn = record({identity(), identity()}) >> all_of({get(1), get(0)});
  const Block turning = map(scalar()) >> rnn(turn, Tensor(Shape{}, {9}));
  expect_three_ways(turning, {{list({1, 2}), list({list({9, 1}), 2})}});
}

TEST(Reuse, OfOneBlockInSeveralPlaces) {
  const Block twice = function([](Expr x) { return x * 2; });
  expect_three_ways(scalar() >> twice >> twice >> all_of({twice, twice >> twice}), {{1, list({8, 16})}});
  const Block number = scalar();
  expect_three_ways(record({number, map(number), number}), {{list({1, list({2, 3}), 4}), list({1, list({2, 3}), 4})}});
  const Block same = map(number) >> sum();
  expect_three_ways(record({same, map(same) >> sum()}),
                    {{list({list({1, 2}), list({list({3}), kNone})}), list({3, 3})}});
}

TEST(Shared, HasOneMaskForEachNode) {
  const nn::Dropout dropout(0.5);
  const auto masks = [&](bool once) {
    const Block mask = from_tensor(Tensor::from({64}, std::vector<double>(64, 1)).to(DType::kFloat32)) >> dropout;
    const Block node = once ? shared(mask) : mask;
    const Value same = Value::map({{"x", 1}});
    const Result result = eval(record({{"a", node}, {"b", node}}), Value::map({{"a", same}, {"b", same}}), {.seed = 3});
    return std::pair(to_value(result[0]).to_text(), to_value(result[1]).to_text());
  };
  const auto [first, second] = masks(true);
  EXPECT_EQ(first, second);
  const auto [one, other] = masks(false);
  EXPECT_NE(one, other);
}

TEST(Shared, KnowsUnlikeDataWithEqualNumbers) {
  const Block each = map(shared(scalar()));
  expect_three_ways(each, {{list({1, 1, 2}), list({1, 1, 2})}});
  expect_three_ways(map(shared(map(scalar()))), {{list({kNone, list({1}), kNone}), list({kNone, list({1}), kNone})}});
  expect_three_ways(map(shared(optional(scalar()))), {{list({nullptr, 1, nullptr}), list({0, 1, 0})}});
}

TEST(Program, OutlivesItsBlocksAndMoves) {
  Model model;
  std::optional<Program> program;
  {
    Forward tree = forward("tree");
    const nn::Linear layer(model / "layer", 2, 1, {.bias = false, .init = init::constant(1)});
    auto offset = std::make_shared<double>(5);
    const Block leaf = vector(2) >> layer >> [offset](Expr x) { return x + *offset; };
    tree.resolve_to(one_of(key([](const Value& v) { return v[0].is_list(); }),
                           {{true, map(tree()) >> reduce(add)}, {false, leaf}}));
    program.emplace(tree());
  }
  const Value input = list({list({1, 2}), list({3, 4})});
  EXPECT_EQ(program->eval(input).leaf().at(0), 20);
  Program moved = std::move(*program);
  program.reset();
  const Program copied = moved;
  EXPECT_EQ(moved.eval(input).leaf().at(0), 20);
  moved = Program(vector(2));
  EXPECT_EQ(copied.eval(input).leaf().at(0), 20);
}

TEST(Program, GivesResultsThatOutliveIt) {
  std::optional<InstanceResult> result;
  {
    const Program program = Program::of<int>(
        all_of({scalar(), input_transform([](int x) { return std::string(static_cast<std::size_t>(x), 'a'); })}));
    result = program.eval(40);
  }
  EXPECT_EQ((*result)[0].item(), 40);
  EXPECT_EQ((*result)[1].input<std::string>(), std::string(40, 'a'));
}

TEST(Data, OfExtremeNumbersIsRefused) {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  const auto refused = [](const Block& block, const Value& input) { EXPECT_THROW(eval(block, input), Error); };
  const Block chosen = record({map(scalar()), identity()}) >> nth();
  for (const std::int64_t number : {lowest, highest}) {
    refused(chosen, list({list({1, 2}), number}));
    refused(get(number) >> scalar(), list({1, 2}));
    refused(map(scalar()) >> get(number), list({1, 2}));
    refused(one_hot(0, 3), number);
    expect_three_ways(map(scalar()) >> slice({.start = number}) >> length(), {{list({1}), number < 0 ? 1 : 0}});
    expect_three_ways(map(scalar()) >> slice({.stop = number}) >> length(), {{list({1}), number < 0 ? 0 : 1}});
    expect_three_ways(map(scalar()) >> slice({.step = number}) >> length(), {{list({1, 2}), 1}});
  }
  expect_three_ways(one_hot(highest - 1, highest), {{highest - 1, list({1})}});
  EXPECT_THROW(one_hot(lowest, highest), UsageError);
  EXPECT_THROW(one_hot(highest, lowest), UsageError);
}

TEST(Data, ThatDoesNotFitAnIntIsRefused) {
  Model model;
  const nn::Embedding table(model / "table", 8, 2);
  const std::int64_t large = (std::int64_t{1} << 32) + 5;
  EXPECT_THROW(eval(embedding(table), Value(large)), Error);
  EXPECT_THROW(eval(input_transform([](int x) { return x; }) >> scalar(), Value(large)), DataError);
}

TEST(Data, OfEveryKindWhereAnotherIsExpected) {
  const std::vector<Value> kinds{
      nullptr, true, 1, 1.5, "text", kNone, list({1}), Value::map({}), Value::map({{"a", 1}})};
  Model model;
  const nn::Embedding table(model / "table", 2, 2);
  const std::vector<Block> blocks{scalar(),
                                  vector(2),
                                  tensor({2, 2}),
                                  one_hot(5, 6),
                                  one_hot({"a"}),
                                  get("x"),
                                  get(3),
                                  record({{"x", scalar()}}),
                                  record({vector(2)}),
                                  map(vector(2)) >> get(0),
                                  length(),
                                  lookup(Vocabulary({"a"})),
                                  embedding(table),
                                  one_of(key("kind"), {{1, scalar()}})};
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const Value& kind : kinds) {
      try {
        static_cast<void>(eval(blocks[i], kind));
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("\n  in instance 0"), std::string::npos) << error.what();
      }
    }
}

}  // namespace
}  // namespace espalier::blocks
