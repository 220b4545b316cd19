/// Types: text form, order, shorthands, canonical form.
#include "espalier/blocks/type.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/input_type.h"
#include "espalier/data/value.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::refusal_of;

/// Any type, at most so deep.
Type random_type(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 6 : 3);
  if (kind == 0) return {};
  if (kind == 1) return Type::input<Value>();
  if (kind == 2) {
    Shape shape;
    for (int rank = *rc::gen::inRange(0, 5); rank > 0; --rank) shape = shape.inserted(0, *rc::gen::inRange(0, 9));
    return Type::tensor(shape);
  }
  if (kind == 3) return Type::sequence(random_type(depth - 1));
  if (kind == 4) return Type::infinite(random_type(depth - 1));
  std::vector<Type> items;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) items.push_back(random_type(depth - 1));
  return Type::tuple(items);
}

TEST(BlockType, HasAText) {
  EXPECT_EQ(Type().to_text(), "void");
  EXPECT_EQ(Type(3).to_text(), "float[3]");
  EXPECT_EQ(Type(Shape{}).to_text(), "float[]");
  EXPECT_EQ(Type(Shape{2, 3}).to_text(), "float[2, 3]");
  EXPECT_EQ(Type::tuple({3, Type::input<Value>()}).to_text(), "(float[3], input<Value>)");
  EXPECT_EQ(Type::sequence(Type::infinite(1)).to_text(), "seq<inf<float[1]>>");
  EXPECT_EQ(Type::input<std::vector<int>>().to_text(), "input<vector<int>>");
  EXPECT_EQ(Type::input<std::string>().to_text(), "input<string>");
}

RC_GTEST_PROP(BlockType, TextReadsBackAsTheSameType, ()) {
  const Type type = random_type(3);
  RC_ASSERT(Type::parse(type.to_text()) == type);
}

TEST(BlockType, ReadsTextsWithSpaces) {
  EXPECT_EQ(Type("( float[ 2,3 ] ,seq<void> )"), Type::tuple({Shape{2, 3}, Type::sequence({})}));
}

TEST(BlockType, RefusesTextsThatAreNoType) {
  EXPECT_EQ(refusal_of([] { Type::parse("seq<float[3]"); }), "type: expected \">\" at position 12 of \"seq<float[3]\"");
  EXPECT_EQ(refusal_of([] { Type::parse("int"); }), "type: expected a type at position 0 of \"int\"");
  EXPECT_EQ(refusal_of([] { Type::parse("float[x]"); }), "type: expected a size at position 6 of \"float[x]\"");
  EXPECT_EQ(refusal_of([] { Type::parse("void void"); }), "type: expected nothing more at position 4 of \"void void\"");
  EXPECT_EQ(refusal_of([] { Type::parse("float[1, 2, 3, 4, 5]"); }),
            "type: expected at most four sizes at position 19 of \"float[1, 2, 3, 4, 5]\"");
  EXPECT_EQ(refusal_of([] { Type::parse("input<Nobody>"); }),
            "type: no block has an input of the C++ type Nobody so far");
}

RC_GTEST_PROP(BlockType, IsOrderedAndHashedByItsText, ()) {
  const Type a = random_type(2);
  const Type b = random_type(2);
  RC_ASSERT((a == b) == (a.to_text() == b.to_text()));
  RC_ASSERT((a < b) == (a.to_text() < b.to_text()));
  RC_ASSERT(std::unordered_set<Type>({a, b}).size() == (a == b ? 1U : 2U));
}

TEST(BlockType, TerminalsAreItsTensorsAndInputsInOrder) {
  const Type type("(float[2], (input<Value>, void), seq<(float[], float[3])>)");
  std::string all;
  for (const Type& terminal : type.terminals()) all += terminal.to_text() + " ";
  EXPECT_EQ(all, "float[2] input<Value> float[] float[3] ");
}

TEST(BlockType, ContainersOfValuesAreValues) {
  EXPECT_EQ(Type("(input<Value>, seq<input<Value>>)").canonical(), Type::input<Value>());
  EXPECT_EQ(Type("(input<Value>, float[])").canonical(), Type("(input<Value>, float[])"));
  EXPECT_EQ(Type("(seq<input<Value>>, float[])").canonical(), Type("(input<Value>, float[])"));
  EXPECT_EQ(Type("inf<input<Value>>").canonical(), Type("inf<input<Value>>"));
  EXPECT_EQ(Type("()").canonical(), Type("()"));
}

RC_GTEST_PROP(BlockType, CanonicalFormKeepsTensorsAndIsItsOwn, ()) {
  const Type type = random_type(3);
  const Type canonical = type.canonical();
  RC_ASSERT(canonical.canonical() == canonical);
  const auto tensors = [](const Type& of) {
    std::vector<Type> result;
    for (const Type& terminal : of.terminals())
      if (terminal.is(Type::Kind::kTensor)) result.push_back(terminal);
    return result;
  };
  RC_ASSERT(tensors(canonical) == tensors(type));
}

}  // namespace
}  // namespace espalier::blocks
