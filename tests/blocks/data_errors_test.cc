/// What the data of an instance are refused for, to the letter.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "espalier/nn/embedding.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::refusal_of;

std::string refusal(const Block& block, const Value& input) {
  return refusal_of([&] { eval(block, input); });
}

TEST(DataErrors, OfNumbers) {
  EXPECT_EQ(refusal(scalar(), "abc"), "scalar(): expected a number, but got \"abc\"\n  in instance 0");
  EXPECT_EQ(refusal(scalar(), nullptr), "scalar(): expected a number, but got null\n  in instance 0");
  EXPECT_EQ(refusal(vector(3), Value::list({1, 2})), "vector(3): expected 3 numbers, but got 2\n  in instance 0");
  EXPECT_EQ(refusal(vector(1), 5), "vector(1): expected a list, but got 5\n  in instance 0");
  EXPECT_EQ(refusal(tensor({2, 1}), Value::list({Value::list({1})})),
            "tensor([2, 1]): expected 2 lists, but got 1\n  in instance 0");
  EXPECT_EQ(refusal_of([] { eval(tensor({2}), Tensor({3})); }),
            "tensor([2]): expected a tensor of shape [2], but got one of shape [3]\n  in instance 0");
}

TEST(DataErrors, OfChoices) {
  EXPECT_EQ(refusal(one_hot(0, 3), 3), "one_hot(0, 3): 3 is not between 0 and 2\n  in instance 0");
  EXPECT_EQ(refusal(one_hot(0, 3), 1.5), "one_hot(0, 3): expected a whole number, but got 1.5\n  in instance 0");
  EXPECT_EQ(refusal(one_hot({"a"}), "b"), "one_hot(1 elements): \"b\" is not one of its elements\n  in instance 0");
  const Block choice = one_of(key("kind"), {{"leaf", scalar()}, {"node", scalar()}});
  EXPECT_EQ(refusal(choice, Value::map({{"kind", "lef"}})),
            "one_of(2 cases): there is no case \"lef\"; the cases are \"leaf\", \"node\"\n  in instance 0: /kind");
  EXPECT_EQ(refusal(choice, Value::map({{"kind", 1.5}})),
            "one_of(2 cases): expected a whole number or a string, but got 1.5\n  in instance 0: /kind");
  EXPECT_EQ(refusal(lookup(Vocabulary({"a"})), "b"),
            "lookup(1 words): the word \"b\" is not in the vocabulary\n  in instance 0");
}

TEST(DataErrors, OfMissingParts) {
  EXPECT_EQ(refusal(get("a"), Value::map({{"b", 1}})),
            "get(\"a\"): the input has no \"a\": {\"b\":1}\n  in instance 0");
  EXPECT_EQ(refusal(get("a"), Value::list({1})), "get(\"a\"): expected a map, but got [1]\n  in instance 0");
  EXPECT_EQ(refusal(get("a"), nullptr), "get(\"a\"): cannot take \"a\": the input is null\n  in instance 0");
  EXPECT_EQ(refusal(get(2), Value::list({1})), "get(2): there is no element 2 in a list of 1\n  in instance 0");
  EXPECT_EQ(refusal(map(scalar()) >> get(-2), Value::list({1})),
            "get(-2): there is no element -2 in a sequence of 1\n  in instance 0");
  EXPECT_EQ(refusal(record({{"left", scalar()}}), Value::map({})),
            "record(\"left\"): the input has no \"left\": {}\n  in instance 0");
  EXPECT_EQ(refusal(record({scalar(), scalar()}), Value::list({1})),
            "record(2 blocks): expected a list of 2, but got one of 1\n  in instance 0");
  EXPECT_EQ(refusal(map(scalar()), 1), "map(): expected a list, but got 1\n  in instance 0");
  EXPECT_EQ(refusal(map(scalar()), nullptr), "map(): expected a list, but got null\n  in instance 0");
  EXPECT_EQ(refusal(record({map(scalar()), identity()}) >> nth(), Value::list({Value::list({1}), 1})),
            "nth(): there is no element 1 in a sequence of 1\n  in instance 0: /1");
  EXPECT_EQ(refusal(map(scalar()) >> stack(1), Value::list({1, 2})),
            "stack(1): expected at most 1 elements, but got 2\n  in instance 0");
}

TEST(DataErrors, NameThePathAndTheInstance) {
  Forward tree = forward("tree");
  const Block leaf = named("leaf", get("x") >> scalar());
  tree.resolve_to(
      one_of(key("kind"), {{"leaf", leaf}, {"node", record({{"left", tree()}, {"right", tree()}}) >> function(add)}}));
  const Program program(tree());
  const Value good = Value::map({{"kind", "leaf"}, {"x", 1}});
  const Value bad =
      Value::map({{"kind", "node"}, {"left", good}, {"right", Value::map({{"kind", "leaf"}, {"x", "one"}})}});
  Graph graph;
  EXPECT_EQ(refusal_of([&] {
              program.record_all(graph, std::vector<Value>{good, good, bad});
            }),
            "scalar(): expected a number, but got \"one\"\n  in tree / leaf / leaf\n  in instance 2: /right/x");
  const Value broken = Value::map({{"kind", "node"}, {"left", good}});
  EXPECT_EQ(refusal_of([&] {
              program.record_all(graph, std::vector<Value>{broken}, {.first_key = {}, .first_number = 40});
            }).substr(0, 50),
            "record(\"left\", \"right\"): the input has no \"right\":");
}

TEST(DataErrors, OfFunctionsOfTheUser) {
  const Block block = named("parse", input_transform([](int x) {
                              if (x > 1) throw std::out_of_range("too large");
                              return x;
                            })) >>
                      scalar();
  const std::vector<Value> inputs{1, 0, 2};
  EXPECT_EQ(refusal_of([&] {
              for (const Result& result : stream(Program(block), inputs, {.batch = 1})) static_cast<void>(result);
            }),
            "input_transform(): the function throws: too large\n  in parse\n  in instance 2");
  EXPECT_THROW(eval(block, Value("x")), DataError);
}

TEST(DataErrors, OfNumbersThatAFunctionCannotTake) {
  const Value large = (std::int64_t{1} << 32) + 5;
  EXPECT_EQ(
      refusal(input_transform([](int x) { return x; }), large),
      "input_transform(): expected a whole number from -2147483648 to 2147483647, but got 4294967301\n  in instance 0");
  EXPECT_EQ(refusal(input_transform([](std::uint8_t x) { return int{x}; }), -1),
            "input_transform(): expected a whole number from 0 to 255, but got -1\n  in instance 0");
  EXPECT_EQ(eval(input_transform([](std::uint64_t x) { return x; }) >> scalar(), Value(7)).item(), 7);
}

TEST(DataErrors, OfOpsKeepTheirText) {
  Model model;
  const nn::Embedding words(model / "words", 3, 2);
  const std::string text = refusal(named("word", embedding(words)), 7);
  EXPECT_EQ(text.substr(0, text.find('\n')), "lookup: row 7 is outside the table (rows 0 to 2)");
  EXPECT_NE(text.find("\n  in word\n  in instance 0"), std::string::npos);
}

TEST(DataErrors, OfResultsWhoseShapeDependsOnTheLength) {
  const Block block = map(vector(1)) >> [](const Operands& all) { return espalier::concat(all); };
  EXPECT_EQ(refusal(block, Value::list({Value::list({1}), Value::list({1}), Value::list({1})})),
            "function(): it gives float[3], but gave float[2] when the model was wired: its shapes must not depend on "
            "the data\n  in instance 0");
  const Block each = map(vector(1)) >> [](const Operands& all) { return std::vector<Expr>{espalier::concat(all)}; };
  EXPECT_EQ(refusal(each, Value::list({Value::list({1})})),
            "function(): it gives float[1], but gave float[2] when the model was wired: its shapes must not depend on "
            "the data\n  in instance 0");
}

TEST(DataErrors, OfResultsWhoseShapeDependsOnTheData) {
  const Block block = function([](Graph& graph, std::string_view text) {
    return graph.constant(Shape{static_cast<std::int32_t>(text.size()) + 1}, 0);
  });
  EXPECT_EQ(refusal(block, "ab"),
            "function(): it gives float[3], but gave float[1] when the model was wired: its shapes must not depend on "
            "the data\n  in instance 0");
}

}  // namespace
}  // namespace espalier::blocks
