/// Values from s-expressions: atoms, trees, streams, errors with their place, depth, properties, fuzzing.
#include "espalier/data/sexpr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/text_file.h"
#include "tests/data/random_values.h"
#include "tests/data/temporary_file.h"
#include "tests/support/print_value.h"
#include "tests/support/refusal.h"
#include "tests/support/small_stack.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;

std::string sexpr_refusal(std::string_view text, SexprForm form = SexprForm::kLisp) {
  return refusal_of([&] { parse_sexpr(text, form, "x.lisp"); });
}

std::vector<std::string> texts(ValueStream stream) {
  std::vector<std::string> texts;
  for (const Value& value : stream) texts.push_back(value.to_text());
  return texts;
}

TEST(Sexpr, AtomsBecomeNumbersAndStrings) {
  EXPECT_EQ(parse_sexpr("(1 -2 +3 2.5 -.5 1. 1e3 -2E-2)"), Value::list({1, -2, 3, 2.5, -0.5, 1.0, 1000.0, -0.02}));
  EXPECT_EQ(parse_sexpr("(word - + . ... 1+ 1e e5 -x inf nan nil 'x [a] #t 1.2.3)"),
            Value::list({"word", "-", "+", ".", "...", "1+", "1e", "e5", "-x", "inf", "nan", "nil", "'x", "[a]", "#t",
                         "1.2.3"}));
  EXPECT_EQ(parse_sexpr("word"), Value("word"));
  EXPECT_EQ(parse_sexpr(" () "), Value::list({}));
}

TEST(Sexpr, StringsHaveEscapesAndLineBreaks) {
  EXPECT_EQ(parse_sexpr(R"("a (b) ; \"c\" \\ \n\t\r \x41\xff")"), Value("a (b) ; \"c\" \\ \n\t\r A\xff"));
  EXPECT_EQ(parse_sexpr("\"a\nb\""), Value("a\nb"));
  EXPECT_EQ(parse_sexpr("(\"12\" a\"b\"c)"), Value::list({"12", "a", "b", "c"}));
}

TEST(Sexpr, CommentsAreSkipped) {
  EXPECT_EQ(parse_sexpr("; first\n(a ; (not this\n b);last"), Value::list({"a", "b"}));
}

TEST(Sexpr, TreesKeepWordsAsTheyAre) {
  EXPECT_EQ(
      parse_sexpr("(3 (2 It) (4 (2 ;) (2 1997)))", SexprForm::kTrees),
      Value::list({3, Value::list({2, "It"}), Value::list({4, Value::list({2, ";"}), Value::list({2, "1997"})})}));
  EXPECT_EQ(parse_sexpr("( (S (NP-SBJ (`` ``) (CD 3.5)) (\" \") (2.5 a\\/b)))", SexprForm::kTrees).to_text(),
            R"([["S",["NP-SBJ",["``","``"],["CD","3.5"]],["\"","\""],["2.5","a\\/b"]]])");
}

TEST(Sexpr, ManyExpressionsAreAStream) {
  EXPECT_EQ(texts(parse_sexprs("(a 1) (b)\n; end\n c")), (std::vector<std::string>{"[\"a\",1]", "[\"b\"]", "\"c\""}));
  EXPECT_EQ(texts(parse_sexprs(" ; nothing")), std::vector<std::string>{});
  const TemporaryFile file("trees.txt", "(3 (2 a) (2 b))\n\n(1 c)\n");
  EXPECT_EQ(texts(read_sexprs(file.path(), SexprForm::kTrees)),
            (std::vector<std::string>{"[3,[2,\"a\"],[2,\"b\"]]", "[1,\"c\"]"}));
  EXPECT_EQ(refusal_of([] { read_sexprs("no/such.txt"); }), "cannot read \"no/such.txt\": No such file or directory");
}

TEST(Sexpr, FilesAreReadInPiecesOfAnySize) {
  // Larger than the pieces a file is read in, so that atoms, strings and escapes lie across them.
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "(12345 \"a\\\"b\" word)\n";
  const TemporaryFile file("long.lisp", text);
  int count = 0;
  for (const Value& value : read_sexprs(file.path())) {
    ASSERT_EQ(value, Value::list({12345, "a\"b", "word"}));
    ++count;
  }
  EXPECT_EQ(count, 40000);
}

TEST(Sexpr, ErrorsNameThePlaceAndWhatWasExpected) {
  EXPECT_EQ(sexpr_refusal(""), "x.lisp:1:1: expected an expression, not the end of the text");
  EXPECT_EQ(sexpr_refusal("\n )"), "x.lisp:2:2: expected an expression, not \")\"");
  EXPECT_EQ(sexpr_refusal("(a\n (b c)"),
            "x.lisp:2:7: expected ')' to close the list opened at 1:1, not the end of the text");
  EXPECT_EQ(sexpr_refusal("(a) b"), "x.lisp:1:5: expected the end of the text, not \"b\"");
  EXPECT_EQ(sexpr_refusal("(a\n \"b"),
            "x.lisp:2:4: expected '\"' to end the string that begins at 2:2, not the end of the text");
  EXPECT_EQ(sexpr_refusal("\"a\\q\""), "x.lisp:1:3: expected one of \" \\ n t r x after a backslash, not \"\\q\"");
  EXPECT_EQ(sexpr_refusal("\"\\x4\""), "x.lisp:1:2: expected two hexadecimal digits after \\x, not \"\\x4\"");
  EXPECT_EQ(sexpr_refusal("\"\\x+4\""), "x.lisp:1:2: expected two hexadecimal digits after \\x, not \"\\x+4\"");
  EXPECT_EQ(sexpr_refusal("99999999999999999999"),
            "x.lisp:1:1: expected an integer from -2^63 to 2^63 - 1, not \"99999999999999999999\"");
  EXPECT_EQ(sexpr_refusal("(1e999)"), "x.lisp:1:2: expected a number that a double holds, not \"1e999\"");
  EXPECT_EQ(sexpr_refusal("(3 (2 a)", SexprForm::kTrees),
            "x.lisp:1:9: expected ')' to close the list opened at 1:1, not the end of the text");
}

TEST(Sexpr, AStreamGivesWhatComesBeforeTheMistake) {
  const TemporaryFile file("broken.lisp", "(a)\n(b))\n(c)");
  ValueStream stream = read_sexprs(file.path());
  EXPECT_EQ(stream.next(), Value::list({"a"}));
  EXPECT_EQ(stream.next(), Value::list({"b"}));
  EXPECT_EQ(refusal_of([&] { stream.next(); }), file.name() + ":2:4: expected an expression, not \")\"");
}

TEST(Sexpr, DepthIsLimitedByMemoryOnly) {
  testing::on_8_megabytes([] {
    constexpr std::size_t kDepth = 1000000;
    const std::string text = std::string(kDepth, '(') + std::string(kDepth, ')');
    EXPECT_EQ(sexpr_text(parse_sexpr(text)), text);
  });
}

TEST(Sexpr, IsWrittenAsItIsRead) {
  EXPECT_EQ(sexpr_text(Value::list({1, 2.0, "word", "12", "two words", "", Value::list({}), "a\nb\x01"})),
            R"((1 2.0 word "12" "two words" "" () "a\nb\x01"))");
  EXPECT_EQ(refusal_of([] {
              sexpr_text(Value::list({1, nullptr}));
            }),
            "s-expressions have lists, strings and finite numbers, but the value is null");
  EXPECT_EQ(refusal_of([] { sexpr_text(Value::map({})); }),
            "s-expressions have lists, strings and finite numbers, but the value is a map");
  EXPECT_EQ(refusal_of([] { sexpr_text(std::nan("")); }),
            "s-expressions have lists, strings and finite numbers, but the value is NaN");
}

TEST(Sexpr, ReadsBackWhatItWrites) {
  Draw draw(3);
  for (int i = 0; i < 3000; ++i) {
    const Value value = draw.value(1 + draw.below(60), true);
    ASSERT_EQ(parse_sexpr(sexpr_text(value)), value) << sexpr_text(value);
  }
}

TEST(Sexpr, AnyBytesGiveValuesOrAnErrorWithItsPlace) {
  Draw draw(4);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text =
        draw.chance(5) ? draw.bytes(40) : draw.mutated(sexpr_text(draw.value(1 + draw.below(20), true)));
    for (const SexprForm form : {SexprForm::kLisp, SexprForm::kTrees}) {
      try {
        parse_sexpr(text, form, "x.lisp");
      } catch (const DataError& error) {
        ++refused;
        ASSERT_TRUE(std::string_view(error.what()).starts_with("x.lisp:")) << error.what();
      }
    }
  }
  EXPECT_GT(refused, 10000);
  EXPECT_LT(refused, 36000);
}

}  // namespace
}  // namespace espalier::data
