/// Compiling or evaluating a block leaves it as it was.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/nn/embedding.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

namespace first_place {
struct Node {
  int x;
};
}  // namespace first_place
namespace second_place {
struct Node {
  int x;
};
}  // namespace second_place

TEST(Compiling, LeavesABlockUnchanged) {
  Model model;
  const nn::Embedding table(model / "words", 2, 3);
  const Block word = lookup(Vocabulary({"good", "bad"})) >> embedding(table);
  const Block words = map(word);
  const Block in_json = get("words") >> words;
  const std::string before = words.describe() + in_json.describe();
  EXPECT_EQ(word.input_text(), "?");

  eval(word, "good");  // a string_view
  EXPECT_EQ(eval(words, std::vector<std::string>{"good", "bad"}).size(), 2U);
  EXPECT_EQ(eval(words, std::vector<std::string_view>{"bad"}).size(), 1U);
  EXPECT_EQ(eval(in_json, Value::map({{"words", Value::list({"bad", "good", "bad"})}})).size(), 3U);
  EXPECT_EQ(eval(word, Value("good")).leaf(), eval(word, std::string("good")).leaf());

  EXPECT_EQ(words.describe() + in_json.describe(), before);
  EXPECT_EQ(word.input_text(), "?");
}

TEST(Compiling, LeavesABlockUnchangedWhenItIsRefused) {
  const Block numbers = map(scalar());
  const std::string before = numbers.describe();
  EXPECT_THROW(Program::of<int>(numbers), UsageError);
  EXPECT_EQ(numbers.describe(), before);
  EXPECT_EQ(eval(numbers, std::vector<int>{1, 2}).size(), 2U);
}

TEST(Compiling, LeavesRecursionsAndCellsUnchanged) {
  Forward tree = forward("tree");
  tree.resolve_to(
      one_of(key("kind"), {{"leaf", get("x") >> scalar()},
                           {"node", record({{"left", tree()}, {"right", tree()}}) >> function(testing::add)}}));
  const Block folded = map(tree()) >> rnn([](Expr x, Expr state) { return std::pair(x + state, x); }, zeros(Shape{}));
  const std::string before = folded.describe();
  const Value leaf = Value::map({{"kind", "leaf"}, {"x", 2}});
  const Value node = Value::map({{"kind", "node"}, {"left", leaf}, {"right", leaf}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(eval(tree(), node).item(), 4);
    EXPECT_EQ(eval(folded, std::vector<Value>{node, leaf})[0][1].item(), 6);
    EXPECT_EQ(folded.describe(), before);
  }
}

TEST(Types, ThatDifferPrintDifferently) {
  const std::vector<std::string> texts{
      Type::input<std::string>().to_text(),       Type::input<std::string_view>().to_text(),
      Type::input<first_place::Node>().to_text(), Type::input<second_place::Node>().to_text(),
      Type::input<std::vector<int>>().to_text(),  Type::input<std::deque<int>>().to_text()};
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(texts[i], texts[j]);
  EXPECT_EQ(texts[0], "input<string>");
  EXPECT_EQ(texts[1], "input<string_view>");
  for (const std::string& text : texts) EXPECT_EQ(Type::parse(text).to_text(), text);
}

TEST(Types, OfDataThatDifferAreNamedInTheError) {
  EXPECT_EQ(testing::refusal_here([] { Program::of<std::string>(identity().takes(Type::input<std::string_view>())); }),
            "identity(): it takes input<string_view>, but the data are input<string>\n"
            "  hint: a block reads one type of data, in all places where it is used; make another block for the other\n"
            "  at here");
}

}  // namespace
}  // namespace espalier::blocks
