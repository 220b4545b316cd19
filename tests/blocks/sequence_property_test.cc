/// Blocks that rearrange sequences against plain lists.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

std::vector<int> random_list() { return *rc::gen::container<std::vector<int>>(rc::gen::inRange(-50, 50)); }

std::vector<std::vector<int>> rows_of(const Result& result) {
  std::vector<std::vector<int>> rows;
  for (const Result& item : result.items()) {
    rows.emplace_back();
    for (const Result& each : item.items()) rows.back().push_back(each.input<int>());
  }
  return rows;
}

std::vector<int> list_of(const Result& result) {
  std::vector<int> list;
  for (const Result& item : result.items()) list.push_back(item.input<int>());
  return list;
}

/// What a slice is, element by element, as languages with such slices define it.
std::vector<int> plain_slice(const std::vector<int>& list, const Slice& slice) {
  const std::int64_t size = std::ssize(list);
  std::vector<int> result;
  const auto wrapped = [&](std::int64_t at) { return at < 0 ? at + size : at; };
  if (slice.step > 0) {
    const std::int64_t stop = std::min(size, slice.stop ? wrapped(*slice.stop) : size);
    for (std::int64_t at = slice.start ? std::max<std::int64_t>(0, wrapped(*slice.start)) : 0; at < stop;
         at += slice.step)
      result.push_back(list[static_cast<std::size_t>(at)]);
  } else {
    const std::int64_t stop = slice.stop ? std::max<std::int64_t>(-1, wrapped(*slice.stop)) : -1;
    const std::int64_t start = slice.start ? std::min(size - 1, wrapped(*slice.start)) : size - 1;
    for (std::int64_t at = start; at > stop; at += slice.step) result.push_back(list[static_cast<std::size_t>(at)]);
  }
  return result;
}

RC_GTEST_PROP(Slice, IsThatOfAPlainList, ()) {
  const std::vector<int> list = random_list();
  const auto place = [] { return *rc::gen::maybe(rc::gen::inRange<std::int64_t>(-12, 12)); };
  Slice which;
  if (const auto start = place()) which.start = *start;
  if (const auto stop = place()) which.stop = *stop;
  which.step = *rc::gen::suchThat(rc::gen::inRange<std::int64_t>(-4, 5), [](std::int64_t step) { return step != 0; });
  RC_ASSERT(list_of(eval(slice(which), list)) == plain_slice(list, which));
}

RC_GTEST_PROP(Zip, IsThatOfPlainLists, ()) {
  const std::vector<std::vector<int>> lists{random_list(), random_list(), random_list()};
  const std::size_t length = std::min({lists[0].size(), lists[1].size(), lists[2].size()});
  std::vector<std::vector<int>> expected;
  for (std::size_t i = 0; i < length; ++i) expected.push_back({lists[0][i], lists[1][i], lists[2][i]});
  RC_ASSERT(rows_of(eval(record({identity(), identity(), identity()}) >> zip(), lists)) == expected);
}

RC_GTEST_PROP(Zip, RepeatsWhatIsInfinite, ()) {
  const std::vector<int> list = random_list();
  RC_PRE(!list.empty());
  std::vector<std::vector<int>> expected;
  for (const int each : list) expected.push_back({list[0], each});
  RC_ASSERT(rows_of(eval(all_of({get(0) >> broadcast(), identity()}) >> zip(), list)) == expected);
}

RC_GTEST_PROP(Ngrams, AreTheWindowsOfAPlainList, ()) {
  const std::vector<int> list = random_list();
  const int n = *rc::gen::inRange(1, 5);
  std::vector<std::vector<int>> expected;
  for (std::size_t i = 0; i + static_cast<std::size_t>(n) <= list.size(); ++i)
    expected.emplace_back(list.begin() + static_cast<std::ptrdiff_t>(i),
                          list.begin() + static_cast<std::ptrdiff_t>(i) + n);
  RC_ASSERT(rows_of(eval(ngrams(n), list)) == expected);
}

RC_GTEST_PROP(Get, IsTheElementOfAPlainList, ()) {
  const std::vector<int> list = random_list();
  RC_PRE(!list.empty());
  const int size = static_cast<int>(list.size());
  const int place = *rc::gen::inRange(-size, size);
  const int expected = list[static_cast<std::size_t>(place < 0 ? place + size : place)];
  RC_ASSERT(eval(get(place), list).input<int>() == expected);
  RC_ASSERT(eval(slice({}) >> get(place), list).input<int>() == expected);
}

RC_GTEST_PROP(Length, IsThatOfAPlainList, ()) {
  const std::vector<int> list = random_list();
  RC_ASSERT(eval(length(), list).item() == static_cast<double>(list.size()));
}

}  // namespace
}  // namespace espalier::blocks
