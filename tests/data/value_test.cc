/// Values: kinds, access and its refusals, sharing, equality, text, depth.
#include "espalier/data/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/support/print_value.h"
#include "tests/support/refusal.h"
#include "tests/support/small_stack.h"

namespace espalier {
namespace {

using espalier::testing::refusal_of;

/// "[[[...]]]", `depth` lists in one another.
Value nested(std::size_t depth) {
  Value value = Value::list({});
  for (std::size_t i = 1; i < depth; ++i) value = Value::list({std::move(value)});
  return value;
}

/// A tree of 2^depth leaves that takes `depth` lists: each list holds the one below it twice.
Value doubled(int depth) {
  Value value = 1;
  for (int i = 0; i < depth; ++i) value = Value::list({value, value});
  return value;
}

Value numbered_map(int entries) {
  std::vector<Value::Entry> list;
  for (int i = 0; i < entries; ++i) list.push_back({"key " + std::to_string(i * 7919 % entries), i});
  return Value::map(std::move(list));
}

TEST(Value, IsOfTheKindOfWhatItIsMadeFrom) {
  EXPECT_EQ(Value().kind(), Value::Kind::kNull);
  EXPECT_EQ(Value(nullptr).kind(), Value::Kind::kNull);
  EXPECT_EQ(Value(true).kind(), Value::Kind::kBool);
  EXPECT_EQ(Value(3).kind(), Value::Kind::kInteger);
  EXPECT_EQ(Value(std::uint8_t{3}).kind(), Value::Kind::kInteger);
  EXPECT_EQ(Value(2.5).kind(), Value::Kind::kFloat);
  EXPECT_EQ(Value(2.5F).kind(), Value::Kind::kFloat);
  EXPECT_EQ(Value("text").kind(), Value::Kind::kString);
  EXPECT_EQ(Value(std::string("text")).kind(), Value::Kind::kString);
  EXPECT_EQ(Value(std::string_view("text")).kind(), Value::Kind::kString);
  EXPECT_EQ(Value::list({}).kind(), Value::Kind::kList);
  EXPECT_EQ(Value::map({}).kind(), Value::Kind::kMap);
}

TEST(Value, CharactersAndPointersDoNotConvert) {
  EXPECT_FALSE((std::is_constructible_v<Value, char>));
  EXPECT_FALSE((std::is_constructible_v<Value, const int*>));
}

TEST(Value, GivesWhatItWasMadeFrom) {
  EXPECT_TRUE(Value(true).as_bool());
  EXPECT_EQ(Value(std::numeric_limits<std::int64_t>::min()).as_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Value(std::uint64_t{7}).as_integer(), 7);
  EXPECT_EQ(Value(2.5).as_float(), 2.5);
  EXPECT_EQ(Value(3).as_float(), 3.0);
  EXPECT_EQ(Value(std::string("a\0b", 3)).as_string(), std::string_view("a\0b", 3));
  const Value list = Value::list({1, 2.5, "x", nullptr, false});
  ASSERT_EQ(list.size(), 5U);
  EXPECT_EQ(list[2].as_string(), "x");
  EXPECT_EQ(list.items()[1].as_float(), 2.5);
  EXPECT_FALSE(list.empty());
  const Value map = Value::map({{"left", list}, {"right", 2}});
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(map.entries()[1].key, "right");
  EXPECT_EQ(map.at("left")[0].as_integer(), 1);
  EXPECT_EQ(map.find("middle"), nullptr);
  EXPECT_TRUE(Value::map({}).empty());
}

TEST(Value, RefusesAnotherKindThanItsOwn) {
  EXPECT_EQ(refusal_of([] { Value("word").as_integer(); }),
            "expected an integer, but the value is a string (\"word\")");
  EXPECT_EQ(refusal_of([] { Value(1.5).as_integer(); }), "expected an integer, but the value is a float (1.5)");
  EXPECT_EQ(refusal_of([] { Value(true).as_float(); }), "expected a float, but the value is a bool (true)");
  EXPECT_EQ(refusal_of([] { Value(1).as_bool(); }), "expected a bool, but the value is an integer (1)");
  EXPECT_EQ(refusal_of([] { Value().as_string(); }), "expected a string, but the value is null");
  EXPECT_EQ(refusal_of([] { Value::map({{"a", 1}}).items(); }), "expected a list, but the value is a map of 1 entry");
  EXPECT_EQ(refusal_of([] { Value::map({{"a", 1}})[0]; }), "expected a list, but the value is a map of 1 entry");
  EXPECT_EQ(refusal_of([] { Value::list({1, 2}).entries(); }), "expected a map, but the value is a list of 2 items");
  EXPECT_EQ(refusal_of([] { Value::list({1, 2}).find("a"); }), "expected a map, but the value is a list of 2 items");
  EXPECT_EQ(refusal_of([] { Value("word").size(); }), "expected a list or a map, but the value is a string (\"word\")");
}

TEST(Value, RefusesWhatIsNotThere) {
  EXPECT_EQ(refusal_of([] { Value::list({1, 2})[2]; }), "item 2, counted from 0, is outside a list of 2");
  EXPECT_EQ(refusal_of([] {
              Value::map({{"left", 1}, {"right", 2}}).at("middle");
            }),
            "the map has no key \"middle\"; its keys are \"left\", \"right\"");
  EXPECT_EQ(refusal_of([] { Value::map({}).at("middle"); }), "the map has no key \"middle\"; it is empty");
  EXPECT_THAT(refusal_of([] { numbered_map(100).at("x"); }),
              ::testing::EndsWith("\"key 71\", \"key 90\", \"key 9\" and 88 more"));
}

TEST(Value, RefusesDoubleKeysAndLargeIntegers) {
  EXPECT_EQ(refusal_of([] { Value::map({{"a", 1}, {"b", 2}, {"a", 3}}); }), "the key \"a\" is given twice in one map");
  EXPECT_EQ(refusal_of([] {
              std::vector<Value::Entry> entries;
              for (int i = 0; i < 100; ++i) entries.push_back({std::to_string(i == 99 ? 17 : i), i});
              Value::map(std::move(entries));
            }),
            "the key \"17\" is given twice in one map");
  EXPECT_EQ(refusal_of([] { Value(std::uint64_t{1} << 63); }),
            "the integer 9223372036854775808 is above 2^63 - 1, the largest that a Value holds");
}

TEST(Value, FindsEveryKeyOfSmallAndLargeMaps) {
  for (const int entries : {1, 2, 16, 17, 10000}) {
    const Value map = numbered_map(entries);
    for (const Value::Entry& entry : map.entries()) EXPECT_EQ(map.find(entry.key), &entry.value);
    EXPECT_EQ(map.find("key"), nullptr);
    EXPECT_EQ(map.find("key 99999"), nullptr);
  }
}

TEST(Value, CopiesShareThePayload) {
  const Value list = Value::list({1, 2});
  const Value copy = list;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  EXPECT_EQ(copy.identity(), list.identity());
  EXPECT_NE(Value::list({1, 2}).identity(), list.identity());
  const Value both = Value::list({list, copy});
  EXPECT_EQ(both[0].identity(), both[1].identity());
  EXPECT_EQ(Value(1).identity(), nullptr);
  EXPECT_EQ(Value().identity(), nullptr);
  EXPECT_NE(Value("").identity(), nullptr);
}

TEST(Value, WhatWasMovedFromIsNull) {
  Value list = Value::list({1});
  const void* identity = list.identity();
  const Value taken = std::move(list);
  EXPECT_EQ(taken.identity(), identity);
  EXPECT_TRUE(list.is_null());  // NOLINT(bugprone-use-after-move): documented
}

TEST(Value, MayBeAssignedToItselfAndToAPartOfItself) {
  Value value = Value::list({Value::list({1}), 2});
  const Value& same = value;
  value = same;
  EXPECT_EQ(value.to_text(), "[[1],2]");
  value = value[0];
  EXPECT_EQ(value.to_text(), "[1]");
}

TEST(Value, IsEqualByKindAndContent) {
  const Value value = Value::map({{"a", Value::list({1, "x", nullptr})}, {"b", true}});
  EXPECT_EQ(value, Value::map({{"a", Value::list({1, "x", nullptr})}, {"b", true}}));
  EXPECT_EQ(value, Value::map({{"b", true}, {"a", Value::list({1, "x", nullptr})}}));
  EXPECT_NE(value, Value::map({{"a", Value::list({1, "x", 0})}, {"b", true}}));
  EXPECT_NE(value, Value::map({{"a", Value::list({1, "x", nullptr})}, {"c", true}}));
  EXPECT_NE(value, Value::map({{"a", Value::list({1, "x", nullptr})}}));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value(true));
  EXPECT_NE(Value(), Value(false));
  EXPECT_NE(Value("a"), Value("b"));
  EXPECT_NE(Value::list({}), Value::map({}));
  EXPECT_NE(Value::list({1, 2}), Value::list({2, 1}));
  EXPECT_EQ(numbered_map(1000), numbered_map(1000));
  EXPECT_NE(Value(std::nan("")), Value(std::nan("")));
}

TEST(Value, ComparesDagsInTheTimeOfTheirOwnSize) {
  EXPECT_EQ(doubled(200), doubled(200));
  EXPECT_NE(doubled(200), doubled(201));
}

TEST(Value, PrintsCompactJson) {
  EXPECT_EQ(Value::map({{"a", Value::list({1, -2.5, nullptr, true, false})}, {"b", Value::map({})}}).to_text(),
            R"({"a":[1,-2.5,null,true,false],"b":{}})");
  EXPECT_EQ(Value::list({1.0, -0.0, 1e300, 0.1, 1e-7}).to_text(), "[1.0,-0.0,1e+300,0.1,1e-07]");
  EXPECT_EQ(Value("say \"\\\" \n\t\r\x01 é").to_text(), R"("say \"\\\" \n\t\r\u0001 é")");
  EXPECT_EQ(Value::list({std::nan(""), HUGE_VAL, -HUGE_VAL}).to_text(), "[NaN,Infinity,-Infinity]");
}

TEST(Value, IsNoDeeperForTheStackWhenAMillionDeep) {
  testing::on_8_megabytes([] {
    constexpr std::size_t kDepth = 1000000;
    const Value value = nested(kDepth);
    EXPECT_TRUE(value == nested(kDepth));
    EXPECT_FALSE(value == nested(kDepth + 1));
    const std::string text = value.to_text();
    EXPECT_EQ(text, std::string(kDepth, '[') + std::string(kDepth, ']'));
  });
}

TEST(Value, HasNameOfEachKindForMessages) {
  EXPECT_EQ(name_of(Value::Kind::kNull), "null");
  EXPECT_EQ(name_of(Value::Kind::kInteger), "an integer");
  EXPECT_EQ(name_of(Value::Kind::kMap), "a map");
}

}  // namespace
}  // namespace espalier
