/// The minibatches of an epoch, by count and by nodes.
#include "espalier/train/minibatches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <vector>

namespace espalier::train {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<std::size_t>> all_of(const Minibatches& minibatches) {
  std::vector<std::vector<std::size_t>> result;
  for (std::int64_t i = 0; i < minibatches.size(); ++i)
    result.emplace_back(minibatches[i].begin(), minibatches[i].end());
  return result;
}

/// In the order of the data.
Minibatches in_order(const std::vector<std::int64_t>& nodes, const MinibatchSizes& sizes) {
  return {EpochOrder(nodes.size(), 0, false).at(0), nodes, sizes};
}

TEST(Minibatches, HaveSoManyInstances) {
  const std::vector<std::int64_t> nodes(5, 9);
  EXPECT_THAT(all_of(in_order(nodes, {.instances = 2})),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_THAT(all_of(in_order(nodes, {.instances = 5})), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
  EXPECT_EQ(in_order({}, {}).size(), 0);
}

TEST(Minibatches, HaveAsManyInstancesAsFitIntoTheirNodes) {
  const std::vector<std::int64_t> nodes{3, 4, 3, 11, 2, 2, 2, 2, 2, 2};
  EXPECT_THAT(all_of(in_order(nodes, {.instances = 4, .nodes = 10})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3), ElementsAre(4, 5, 6, 7), ElementsAre(8, 9)));
}

TEST(Minibatches, HaveEveryInstanceOnceInAnOrderOfSeedAndEpoch) {
  const auto order = [](std::uint64_t seed, std::int32_t epoch) {
    EpochOrder of(20, seed, true);
    const std::span<const std::size_t> at = of.at(epoch);
    return std::vector<std::size_t>(at.begin(), at.end());
  };
  std::vector<std::size_t> every(20);
  std::iota(every.begin(), every.end(), std::size_t{0});
  EXPECT_THAT(order(1, 0), ::testing::UnorderedElementsAreArray(every));
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));
  EpochOrder of(20, 1, true);
  for (const std::int32_t epoch : {3, 1, 1, 0, 4})
    EXPECT_THAT(order(1, epoch), ::testing::ElementsAreArray(of.at(epoch))) << epoch;
}

}  // namespace
}  // namespace espalier::train
