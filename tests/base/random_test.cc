/// The counter-based generator against its published vectors, and the stream over it.
#include "espalier/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

using Four = std::array<std::uint32_t, 4>;

TEST(Philox, GivesThePublishedVectors) {
  // kat_vectors of Random123, the authors' own implementation.
  static_assert(philox({0, 0, 0, 0}, {0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Uniform, StaysBelowOne) {
  EXPECT_EQ(uniform_float(0), 0.0F);
  EXPECT_EQ(uniform_float(0xffffffff), 1.0F - 0x1p-24F);
  EXPECT_EQ(uniform_double(0, 0), 0.0);
  EXPECT_EQ(uniform_double(0xffffffff, 0xffffffff), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_double(0x80000000, 0), 0.5);
}

TEST(Random, GivesTheWordsOfPhiloxInOrder) {
  Random random(0x0000000200000001, 0x0000000400000003);
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word : philox({block, 0, 3, 4}, {1, 2})) EXPECT_EQ(random.next(), word);
  }
}

TEST(Random, SeedsAndStreamsDiffer) {
  EXPECT_EQ(Random(1).next(), Random(1).next());
  EXPECT_NE(Random(1).next(), Random(2).next());
  EXPECT_NE(Random(1, 0).next(), Random(1, 1).next());
}

TEST(Random, ContinuesFromItsStateAnywhere) {
  for (int taken = 0; taken < 9; ++taken) {
    Random random(7, 5);
    for (int i = 0; i < taken; ++i) random.next();
    Random copy = random;
    Random restored(0);
    restored.set_state(random.state());
    for (int i = 0; i < 9; ++i) {
      const std::uint32_t word = random.next();
      EXPECT_EQ(copy.next(), word);
      EXPECT_EQ(restored.next(), word);
    }
    EXPECT_EQ(restored.state(), random.state());
  }
}

TEST(Random, UniformHasTheRightMeanAndRange) {
  Random random(3);
  double sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform(-2, 4);
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 4);
    sum += value;
  }
  EXPECT_NEAR(sum / kDraws, 1.0, 0.03);
  EXPECT_EQ(random.uniform(5, 5), 5);
}

TEST(Random, NormalHasTheRightMoments) {
  Random random(4);
  constexpr int kDraws = 200000;
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    fourths += value * value * value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
  EXPECT_NEAR(fourths / kDraws, 3.0, 0.15);
}

TEST(Random, BelowIsEven) {
  Random random(5);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(random.below(7))];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 400);
  EXPECT_EQ(random.below(1), 0);
  // For this n, a remainder of 64 bits alone would favour the lower two thirds three to two.
  const std::int64_t large = (std::int64_t{3} << 61) - 1;
  int lower = 0;
  for (int i = 0; i < 10000; ++i) lower += random.below(large) < large / 2 ? 1 : 0;
  EXPECT_NEAR(lower, 5000, 250);
}

TEST(Random, RefusesNumbersBelowZero) {
  Random random(5);
  for (const std::int64_t n : {0, -3}) {
    try {
      random.below(n);
      FAIL() << "no exception";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()),
                "a random number below " + std::to_string(n) + " was asked for; it must be below 1 or more");
    }
  }
}

TEST(Random, ShuffleGivesEveryOrder) {
  Random random(6);
  std::array<int, 6> counts{};
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) {
    std::array<int, 3> items{0, 1, 2};
    random.shuffle(std::span<int>(items));
    ++counts[static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0))];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 500);
  std::vector<int> many(100);
  std::iota(many.begin(), many.end(), 0);
  std::vector<int> shuffled = many;
  random.shuffle(std::span<int>(shuffled));
  EXPECT_NE(shuffled, many);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, many);
}

}  // namespace
}  // namespace espalier
