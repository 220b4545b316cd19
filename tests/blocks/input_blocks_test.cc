/// Blocks that read inputs.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "espalier/nn/embedding.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::expect_gradients;
using testing::expect_three_ways;
using testing::refusal_of;

TEST(Scalar, ReadsNumbersAndBools) {
  expect_three_ways(scalar(), {{3, 3}, {-2.5, -2.5}, {true, 1}});
  EXPECT_EQ(scalar().output_type().to_text(), "float[]");
  EXPECT_EQ(scalar().input_text(), "?");
}

template <class T>
void expect_round_trip() {
  EXPECT_EQ(eval(scalar(), T{1}).item(), 1);
  EXPECT_EQ(to_value(eval(vector(2), std::vector<T>{T{0}, T{1}})).to_text(), "[0.0,1.0]");
  const std::vector<std::vector<std::vector<std::vector<T>>>> cube{{{{T{1}, T{0}}}}};
  EXPECT_EQ(to_value(eval(tensor({1, 1, 1, 2}), cube)).to_text(), "[[[[1.0,0.0]]]]");
  EXPECT_EQ(to_value(eval(tensor({1, 2}), cube[0][0])).to_text(), "[[1.0,0.0]]");
  EXPECT_EQ(to_value(eval(tensor({2, 1}), cube[0][0][0])).to_text(), "[[1.0],[0.0]]") << "a flat list";
}

TEST(Tensor, ReadsEveryElementTypeAndRank) {
  expect_round_trip<float>();
  expect_round_trip<double>();
  expect_round_trip<std::int8_t>();
  expect_round_trip<std::int16_t>();
  expect_round_trip<std::int32_t>();
  expect_round_trip<std::int64_t>();
  expect_round_trip<std::uint8_t>();
  expect_round_trip<std::uint16_t>();
  expect_round_trip<bool>();
  EXPECT_EQ(to_value(eval(tensor({2}), Tensor({2}, {3, 4}))).to_text(), "[3.0,4.0]");
}

TEST(Tensor, KeepsTheDigitsOfFloat64) {
  const GraphOptions options{.training = false, .dtype = DType::kFloat64};
  EXPECT_EQ(eval(scalar(), 0.1, options).item(), 0.1);
  EXPECT_EQ(eval(vector(1), std::vector<double>{0.1}, options).leaf().at(0), 0.1);
}

TEST(Vector, ReadsLists) {
  expect_three_ways(vector(3), {{Value::list({1, 2, 3}), Value::list({1, 2, 3})},
                                {Value::list({4, 5, 6.5}), Value::list({4, 5, 6.5})}});
  expect_three_ways(tensor({2, 2}), {{Value::list({Value::list({1, 2}), Value::list({3, 4})}),
                                      Value::list({Value::list({1, 2}), Value::list({3, 4})})}});
}

TEST(OneHot, OfARange) {
  expect_three_ways(one_hot(-2, 1), {{-2, Value::list({1, 0, 0})}, {0, Value::list({0, 0, 1})}});
  expect_three_ways(one_hot(-1, 0), {{-1, Value::list({1})}});
}

TEST(OneHot, OfAList) {
  expect_three_ways(one_hot({"red", "green"}), {{"green", Value::list({0, 1})}, {"red", Value::list({1, 0})}});
  expect_three_ways(one_hot({3, 7}, Unknown::kZeros), {{7, Value::list({0, 1})}, {8, Value::list({0, 0})}});
}

TEST(InputTransform, CallsAnyFunction) {
  const Block doubled = input_transform([](double x) { return 2 * x; }) >> scalar();
  expect_three_ways(doubled, {{3, 6}, {1.5, 3}});
  const Block words = input_transform([](std::string_view text) {
                        std::vector<int> lengths;
                        for (const char c : text) lengths.push_back(c);
                        return lengths;
                      }) >>
                      map(scalar());
  expect_three_ways(words, {{"ab", Value::list({97, 98})}, {"", Value::list({})}});
}

TEST(Get, TakesPartsOfValues) {
  const Value map = Value::map({{"a", 1}, {"b", Value::list({5, 6, 7})}});
  expect_three_ways(get("a") >> scalar(), {{map, 1}});
  expect_three_ways(get("b") >> get(-1) >> scalar(), {{map, 7}});
  expect_three_ways(get("b"), {{map, Value::list({5, 6, 7})}});
}

TEST(Get, TakesItemsAndElements) {
  const Block pair = all_of({get(0) >> scalar(), get(1) >> scalar()});
  expect_three_ways(pair >> get(1), {{Value::list({5, 6}), 6}});
  expect_three_ways(all_of({get(0) >> scalar(), get(1)}) >> get(-2), {{Value::list({5, 6}), 5}});
  expect_three_ways(blocks::map(scalar()) >> get(1), {{Value::list({5, 6}), 6}});
  expect_three_ways(blocks::map(scalar()) >> get(-1), {{Value::list({5, 6, 9}), 9}});
}

TEST(Get, FindsKeysOfMaps) {
  const std::map<std::string, double> prices{{"tea", 2.5}};
  EXPECT_EQ(eval(get("tea") >> scalar(), prices).item(), 2.5);
}

TEST(Lookup, FindsWords) {
  const Block word = lookup(Vocabulary({"good", "bad"}).unknown(7)) >> scalar();
  expect_three_ways(word, {{"bad", 1}, {"good", 0}, {"ugly", 7}});
}

TEST(Embedding, GivesRowsAndTheirGradients) {
  Model model;
  const nn::Embedding table(model / "words", 3, 2);
  const Block word = embedding(table);
  EXPECT_EQ(word.output_type().to_text(), "float[2]");
  expect_gradients(model, word, {0, 2, 2});
}

TEST(Embedding, LooksUpEqualWordsOnce) {
  Model model;
  const nn::Embedding table(model / "words", 3, 2);
  const Block bag = map(embedding(table)) >> sum();
  const Program program(bag);
  Graph graph;
  std::vector<Value> same(1000, 1);
  const Output output = program.record(graph, Value::list(same));
  graph.finish({output.leaf()});
  EXPECT_LE(graph.statistics().merged, 1000);
  EXPECT_GE(graph.statistics().merged, 999);
}

}  // namespace
}  // namespace espalier::blocks
