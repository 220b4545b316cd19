#include "espalier/train/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/refusal.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;

std::vector<int> numbers(int count) {
  std::vector<int> list;
  for (int i = 0; i < count; ++i) list.push_back(10 * i);
  return list;
}

std::vector<std::vector<int>> all(const std::vector<int>& data, std::int64_t size, const BatchOptions& options) {
  std::vector<std::vector<int>> result;
  for (const auto& batch : batches(data, size, options)) result.emplace_back(batch.begin(), batch.end());
  return result;
}

TEST(Batches, HoldEveryElementOnce) {
  const std::vector<int> data = numbers(103);
  std::vector<int> seen;
  std::size_t count = 0;
  for (const auto& batch : batches(data, 10, {.seed = 4})) {
    EXPECT_EQ(batch.size(), ++count <= 10 ? 10U : 3U);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      seen.push_back(batch[i]);
      EXPECT_EQ(batch[i], data[batch.places()[i]]);
    }
  }
  EXPECT_EQ(count, 11U);
  EXPECT_NE(seen, data);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(data));
}

TEST(Batches, HaveAnOrderPerSeedAndEpoch) {
  const std::vector<int> data = numbers(50);
  const auto order = [&](std::uint64_t seed, std::int64_t epoch) {
    return all(data, 7, {.seed = seed, .epoch = epoch});
  };
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 2), order(1, 3));
  EXPECT_NE(order(1, 2), order(2, 2));
}

TEST(Batches, KeepTheOrderAndDropTheLastIfAsked) {
  const std::vector<int> data = numbers(5);
  EXPECT_THAT(all(data, 2, {.shuffle = false}), ElementsAre(ElementsAre(0, 10), ElementsAre(20, 30), ElementsAre(40)));
  EXPECT_THAT(all(data, 2, {.shuffle = false, .drop_last = true}),
              ElementsAre(ElementsAre(0, 10), ElementsAre(20, 30)));
  EXPECT_THAT(all(data, 5, {.shuffle = false, .drop_last = true}), ElementsAre(ElementsAre(0, 10, 20, 30, 40)));
  EXPECT_THAT(all(data, 9, {.shuffle = false}), ElementsAre(ElementsAre(0, 10, 20, 30, 40)));
  EXPECT_THAT(all({}, 2, {}), ElementsAre());
}

TEST(Batches, RefuseABatchSizeBelowOne) {
  const std::vector<int> data = numbers(5);
  EXPECT_EQ(testing::refusal_of([&] { batches(data, 0); }), "batches: the batch size must be at least 1, not 0");
}

}  // namespace
}  // namespace espalier
