/// Errors name the user's line, and the place in the data.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/tree_lstm.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {

namespace testing_places {

struct Item {
  std::string name;
  std::vector<double> sizes;
};
struct Order {
  std::vector<Item> items;
};
struct Twig {
  std::string word;
  std::unique_ptr<Twig> left, right;
};

}  // namespace testing_places

template <>
struct Fields<testing_places::Item> {
  static constexpr std::tuple kList{field("name", &testing_places::Item::name),
                                    field("sizes", &testing_places::Item::sizes)};
};
template <>
struct Fields<testing_places::Order> {
  static constexpr std::tuple kList{field("items", &testing_places::Order::items)};
};

namespace {

using testing::refusal_here;
using testing::refusal_of;
using testing_places::Item;
using testing_places::Order;
using testing_places::Twig;

/// The last line of what is refused: "in instance 0: /a/b".
std::string last_line(const std::string& text) { return text.substr(text.rfind('\n') + 3); }

/// No line of a library file is named.
void expect_user_lines(const std::string& text) {
  EXPECT_EQ(text.find(".h:"), std::string::npos) << text;
  EXPECT_EQ(text.find(".cc:"), std::string::npos) << text;  // those of this file are "here"
  EXPECT_NE(text.find("here"), std::string::npos) << text;
}

TEST(ErrorPlaces, OfLayersAreTheLineThatWiredThem) {
  Model model;
  const nn::Embedding words(model / "words", 3, 2);
  const nn::BinaryTreeLstm cell(model / "cell", 2, 2);
  const nn::Linear layer(model / "layer", 2, 2);
  expect_user_lines(refusal_here([&] { eval(embedding(words), 7); }));
  expect_user_lines(refusal_here([&] { eval(BlockArg(words), 7); }));
  expect_user_lines(refusal_here([&] {
    const Block state = all_of({vector(3), vector(3)});
    eval(all_of({state, state}) >> cell, std::vector<float>{1, 2, 3});
  }));
  expect_user_lines(refusal_here([&] { vector(3) >> [&](Expr x) { return layer(x); }; }));
}

TEST(ErrorPlaces, OfLossesAreTheLineThatCompiledTheProgram) {
  Model model;
  const nn::Linear layer(model / "layer", 1, 1);
  const std::vector<Value> data{Value::list({1})};
  for (const double weight : {1.0, 2.0}) {
    const Program program(vector(1) >> layer >> loss("l", weight));
    Graph graph;
    const Expr total = program.loss(graph, data);
    expect_user_lines(refusal_here([&] { static_cast<void>(espalier::concat({total, total})); }));
  }
}

TEST(DataPlaces, OfJsonAreJsonPointers) {
  const Block names = get("items") >> map(get("name") >> one_hot({"a", "b"}));
  const Value good = Value::map({{"name", "a"}});
  const Value bad = Value::map({{"name", "c"}});
  const auto order = [](const Value& last) {
    const Value good_one = Value::map({{"name", "a"}});
    return Value::map({{"items", Value::list({good_one, good_one, good_one, last})}});
  };
  std::vector<Value> data(7, order(good));
  data.push_back(order(bad));
  const Program program(names);
  Graph graph;
  EXPECT_EQ(refusal_of([&] { program.record_all(graph, data); }),
            "one_hot(2 elements): \"c\" is not one of its elements\n  in instance 7: /items/3/name");
  EXPECT_EQ(last_line(refusal_of([&] { program.eval(order(Value::map({{"nam", "a"}}))); })), "in instance 0: /items/3");
  EXPECT_EQ(last_line(refusal_of([&] {
              eval(get("a/b") >> get("c~d") >> scalar(), Value::map({{"a/b", Value::map({{"c~d", "x"}})}}));
            })),
            "in instance 0: /a~1b/c~0d");
}

TEST(DataPlaces, ReachIntoListsOfNumbers) {
  const Value matrix = Value::list({Value::list({1, 2}), Value::list({3, "x"})});
  EXPECT_EQ(last_line(refusal_of([&] {
              eval(get("m") >> tensor({2, 2}), Value::map({{"m", matrix}}));
            })),
            "in instance 0: /m/1/1");
}

TEST(DataPlaces, AreKeptByBlocksThatRearrangeElements) {
  const Value list = Value::list({1, 2, "x", 4});
  EXPECT_EQ(last_line(refusal_of([&] { eval(slice({.start = 1}) >> map(scalar()), list); })), "in instance 0: /2");
  EXPECT_EQ(last_line(refusal_of([&] {
              eval(ngrams(2) >> map(record({scalar(), scalar()})), list);
            })),
            "in instance 0: /2");
}

TEST(DataPlaces, AreThoseOfInputsBesideTensors) {
  const Value data = Value::map({{"scores", Value::list({1, 2})}, {"label", 7}});
  const Block labelled = all_of({get("scores") >> vector(2), get("label")});
  EXPECT_EQ(last_line(refusal_of<UsageError>([&] { eval(labelled >> cross_entropy, data); })), "in instance 0: /label");
  const Block chosen = all_of({get("scores") >> map(scalar()), get("label")}) >> nth();
  EXPECT_EQ(last_line(refusal_of([&] { eval(chosen, data); })), "in instance 0: /label");
}

TEST(DataPlaces, OfErrorsInFunctionsAreThePartThatIsWalked) {
  Forward tree = forward("tree");
  const Block join = function(
      [](const std::vector<Expr>& all) { return all.size() == 2 ? all[0] : throw std::runtime_error("two, please"); });
  tree.resolve_to(one_of(
      key("kind"), {{"leaf", get("x") >> scalar()}, {"node", get("children") >> map(tree().gives(Shape{})) >> join}}));
  const Value leaf = Value::map({{"kind", "leaf"}, {"x", 1}});
  const auto node = [](const std::vector<Value>& children) {
    return Value::map({{"kind", "node"}, {"children", Value::list(children)}});
  };
  EXPECT_EQ(last_line(refusal_of([&] {
              eval(tree(), node({leaf, node({leaf, leaf, leaf})}));
            })),
            "in instance 0: /children/1");
}

TEST(DataPlaces, OfStructsAreTheirFields) {
  const Block sizes = get("items") >> map(get("sizes") >> vector(2));
  const Order order{{Item{"a", {1, 2}}, Item{"b", {1, 2, 3}}}};
  EXPECT_EQ(refusal_of([&] { eval(sizes, order); }),
            "vector(2): expected 2 numbers, but got 3\n  in instance 0: /items/1/sizes");
  const Block names = get("items") >> map(get("name") >> lookup(Vocabulary({"a"})));
  EXPECT_EQ(last_line(refusal_of([&] { eval(names, order); })), "in instance 0: /items/1/name");
}

TEST(DataPlaces, OfMembersAreTheNamesOfTheirBlocks) {
  Forward tree = forward("tree");
  const Block leaf = get(&Twig::word).named("word") >> one_hot({"a"});
  const Block inner = all_of({get(&Twig::left).named("left") >> tree(), get(&Twig::right).named("right") >> tree()}) >>
                      function(testing::add);
  tree.resolve_to(one_of(key([](const Twig& twig) { return twig.left == nullptr; }), {{true, leaf}, {false, inner}}));
  Twig root;
  root.left = std::make_unique<Twig>(Twig{"a", nullptr, nullptr});
  root.right = std::make_unique<Twig>();
  root.right->left = std::make_unique<Twig>(Twig{"b", nullptr, nullptr});
  root.right->right = std::make_unique<Twig>(Twig{"a", nullptr, nullptr});
  EXPECT_EQ(last_line(refusal_of([&] { eval(tree(), root); })), "in instance 0: /right/left/word");
}

TEST(DataPlaces, OfSharedPartsAreFoundOnce) {
  // 2^60 ways lead to the leaf.
  Value value = Value::list({"x"});
  for (int i = 0; i < 60; ++i) value = Value::list({value, value});
  EXPECT_EQ(refusal_of([&] { eval(scalar(), value); }).find("scalar(): expected a number"), 0U);
}

TEST(DataPlaces, OfDeepDataAreShortened) {
  constexpr int kDepth = 200000;
  Forward tree = forward("tree");
  tree.resolve_to(one_of(key("kind"), {{"leaf", get("x") >> scalar()}, {"node", get("child") >> tree()}}));
  Value value = Value::map({{"kind", "leaf"}, {"x", "one"}});
  for (int i = 0; i < kDepth; ++i) value = Value::map({{"kind", "node"}, {"child", value}});
  const std::string text = refusal_of([&] { eval(tree(), value); });
  EXPECT_NE(text.find("/child/... 199981 more .../child"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("/child/x")) << text;
}

}  // namespace
}  // namespace espalier::blocks
