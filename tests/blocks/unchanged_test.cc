/// Compiling or evaluating a block leaves it as it was, and so does wiring that is refused.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/lstm.h"
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

/// What is known of blocks, to compare before and after.
std::string known_of(std::initializer_list<Block> blocks) {
  std::string text;
  for (const Block& block : blocks) text += block.describe();
  return text;
}

TEST(RefusedWiring, LeavesBlocksUnchanged) {
  Model model;
  const nn::Embedding table(model / "words", 2, 3);
  const nn::LstmCell lstm(model / "lstm", 3, 4);
  const Block word = lookup(Vocabulary({"good", "bad"})) >> embedding(table);
  const Block words = map(word);
  const Block open = identity();
  const Block opens = map(open);
  const Block pair = all_of({open, identity()});
  const std::string before = known_of({word, words, open, opens, pair});

  EXPECT_THROW(word.takes("seq<float[3]>"), UsageError);
  EXPECT_THROW(word.gives("float[4]"), UsageError);
  EXPECT_THROW(words >> lstm, UsageError);
  EXPECT_THROW(words >> map(vector(2)), UsageError);
  EXPECT_THROW(opens >> lstm, UsageError);
  EXPECT_THROW(pair >> record({{"a", vector(2)}, {"b", word}, {"c", open}}), UsageError);
  EXPECT_THROW(one_of(key("k"), {{"a", open}, {"b", vector(3)}, {"c", vector(2)}}), UsageError);
  EXPECT_THROW(rnn(pair, zeros(Shape{4})).takes("seq<float[3]>"), UsageError);
  EXPECT_EQ(known_of({word, words, open, opens, pair}), before);

  // Rules of what was refused are gone, too: nothing stands in the way of other uses.
  EXPECT_EQ(eval(words >> sum(), std::vector<std::string>{"good"}).leaf(), eval(word, "good").leaf());
  EXPECT_EQ(eval(scalar() >> open, Value(3)).item(), 3);
  EXPECT_EQ(eval(map(scalar()) >> opens >> sum(), std::vector<int>{1, 2}).item(), 3);
}

TEST(RefusedWiring, LeavesNoNamesInPaths) {
  const Block number = scalar();
  EXPECT_THROW(record({{"left", number >> map(identity())}, {"right", number}}), UsageError);
  const Block inner = record({{"n", number}}).named("inner");
  EXPECT_EQ(testing::refusal_here([&] { eval(inner, data::parse_json(R"({"n": "x"})")); }),
            "scalar(): expected a number, but got \"x\"\n  in inner / n\n  in instance 0: /n");
}

TEST(RefusedWiring, LeavesDeclarationsUnresolved) {
  const Forward list = forward("list");
  const Block uses = scalar() >> list();
  EXPECT_THROW(list.resolve_to(map(scalar())), UsageError);
  list.resolve_to(identity());
  EXPECT_EQ(eval(uses, Value(2)).item(), 2);
}

TEST(RefusedWiring, LeavesCompositionsAsTheyWere) {
  Composition both("both");
  const Wire number = both(scalar(), both.input());
  EXPECT_THROW(both(map(identity()), number), UsageError);
  EXPECT_THROW(number[3], UsageError);
  const Wire later = both.add(map(identity()));
  EXPECT_THROW(later.reads(number), UsageError);
  later.reads(both(zeros("seq<float[]>"), both.input()));
  both(nothing(), later);
  both.output().reads(number);
  EXPECT_EQ(eval(both, Value(2)).item(), 2);
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
