#include "espalier/base/inline_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace espalier {
namespace {

template <std::size_t n>
std::vector<std::int32_t> contents(const InlineList<std::int32_t, n>& list) {
  return {list.begin(), list.end()};
}

TEST(InlineList, KeepsItsElementsHoweverManyThereAre) {
  InlineList<std::int32_t, 3> list;
  EXPECT_TRUE(list.empty());
  std::vector<std::int32_t> expected;
  for (std::int32_t i = 0; i < 10; ++i) {
    list.push_back(i * i);
    expected.push_back(i * i);
    EXPECT_EQ(list.size(), expected.size());
    EXPECT_EQ(contents(list), expected);
    EXPECT_EQ(list[static_cast<std::size_t>(i)], i * i);
    EXPECT_EQ(list.data(), list.begin());
  }
  EXPECT_FALSE(list.empty());
}

TEST(InlineList, IsWrittenInBraces) {
  const InlineList<std::int32_t, 3> few{5, 6};
  EXPECT_EQ(contents(few), (std::vector<std::int32_t>{5, 6}));
  const InlineList<std::int32_t, 3> many{1, 2, 3, 4};
  EXPECT_EQ(contents(many), (std::vector<std::int32_t>{1, 2, 3, 4}));
}

TEST(InlineList, IsUsedAgainAfterClear) {
  InlineList<std::int32_t, 2> list{1, 2, 3, 4, 5};
  list.clear();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  for (std::int32_t i = 7; i < 11; ++i) list.push_back(i);
  EXPECT_EQ(contents(list), (std::vector<std::int32_t>{7, 8, 9, 10}));
  list.clear();
  list.push_back(3);
  EXPECT_EQ(contents(list), (std::vector<std::int32_t>{3}));
}

TEST(InlineList, CopiesAndMovesWithItsElements) {
  for (const std::size_t size : {2, 3, 4, 9}) {
    InlineList<std::int32_t, 3> list;
    for (std::size_t i = 0; i < size; ++i) list.push_back(static_cast<std::int32_t>(i));
    const std::vector<std::int32_t> expected = contents(list);
    InlineList<std::int32_t, 3> copy = list;
    list.push_back(100);
    EXPECT_EQ(contents(copy), expected);
    const InlineList<std::int32_t, 3> moved = std::move(copy);
    EXPECT_EQ(contents(moved), expected);
    list = moved;
    EXPECT_EQ(contents(list), expected);
  }
}

TEST(InlineList, AddsAnElementOfItself) {
  InlineList<std::int32_t, 2> list{8, 9};
  for (int i = 0; i < 20; ++i) list.push_back(list[0]);
  EXPECT_EQ(list.size(), 22U);
  EXPECT_EQ(list[21], 8);
}

}  // namespace
}  // namespace espalier
