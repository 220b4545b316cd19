/// Placing pieces of memory: none that live together overlap, and bytes are used again.
#include "espalier/plan/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"

namespace espalier::plan {
namespace {

bool live_together(const Lease& a, const Lease& b) { return a.first <= b.last && b.first <= a.last; }
bool overlap(const Lease& a, const Lease& b) { return a.at < b.at + b.bytes && b.at < a.at + a.bytes; }

void check(const std::vector<Lease>& leases, std::int64_t bytes) {
  for (std::size_t i = 0; i < leases.size(); ++i) {
    EXPECT_EQ(leases[i].at % 64, 0);
    EXPECT_GE(leases[i].at, 0);
    EXPECT_LE(leases[i].at + leases[i].bytes, bytes);
    for (std::size_t j = 0; j < i; ++j)
      ASSERT_FALSE(live_together(leases[i], leases[j]) && overlap(leases[i], leases[j])) << i << " and " << j;
  }
}

/// The most bytes that live at one time, each lease rounded up to 64: no placement needs less.
std::int64_t least_bytes(const std::vector<Lease>& leases) {
  std::int64_t most = 0;
  for (const Lease& now : leases) {
    std::int64_t bytes = 0;
    for (const Lease& lease : leases)
      if (lease.first <= now.first && now.first <= lease.last) bytes += (lease.bytes + 63) / 64 * 64;
    most = std::max(most, bytes);
  }
  return most;
}

TEST(Place, OfNothingTakesNothing) {
  std::vector<Lease> leases;
  EXPECT_EQ(place(leases), 0);
  leases.push_back({.bytes = 0, .first = 3, .last = 5});
  EXPECT_EQ(place(leases), 0);
}

TEST(Place, LeasesThatLiveTogetherDoNotOverlap) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lease> leases(static_cast<std::size_t>(random.below(round % 30 == 0 ? 3000 : 150)));
    const auto steps = 1 + random.below(round % 3 == 0 ? 5 : 200);
    const auto longest = 1 + random.below(steps);
    const auto largest = 1 + random.below(round % 2 == 0 ? 300 : 100'000);
    for (Lease& lease : leases) {
      lease.bytes = random.below(largest);
      lease.first = static_cast<std::int32_t>(random.below(steps)) - 1;
      lease.last = lease.first + static_cast<std::int32_t>(random.below(longest));
    }
    const std::int64_t bytes = place(leases);
    check(leases, bytes);
    EXPECT_GE(bytes, least_bytes(leases));
    EXPECT_LE(bytes, 2 * least_bytes(leases));
  }
}

TEST(Place, AChainOfEqualRowsNeedsTwo) {
  std::vector<Lease> leases(1000);
  for (std::int32_t i = 0; i < 1000; ++i)
    leases[static_cast<std::size_t>(i)] = {.bytes = 100, .first = i, .last = i + 1};
  EXPECT_EQ(place(leases), 2 * 128);
  check(leases, 2 * 128);
}

TEST(Place, HolesBesideEachOtherBecomeOne) {
  std::vector<Lease> leases(8, {.bytes = 64, .first = 0, .last = 0});
  for (std::int32_t i = 0; i < 8; ++i) leases[static_cast<std::size_t>(i)].last = i;
  leases.push_back({.bytes = 8 * 64, .first = 8, .last = 9});
  EXPECT_EQ(place(leases), 8 * 64);
}

TEST(Place, AHoleAtTheEndIsMadeLarger) {
  std::vector<Lease> leases{{.bytes = 64, .first = 0, .last = 5}, {.bytes = 64, .first = 0, .last = 0}};
  leases.push_back({.bytes = 256, .first = 1, .last = 5});
  EXPECT_EQ(place(leases), 64 + 256);
}

TEST(Place, TheSmallestHoleIsTakenFirst) {
  std::vector<Lease> leases{{.bytes = 1024, .first = 0, .last = 0},
                            {.bytes = 64, .first = 0, .last = 9},
                            {.bytes = 128, .first = 0, .last = 0},
                            {.bytes = 64, .first = 0, .last = 9}};
  leases.push_back({.bytes = 128, .first = 1, .last = 9});
  leases.push_back({.bytes = 1024, .first = 1, .last = 9});
  EXPECT_EQ(place(leases), 1024 + 64 + 128 + 64);
}

}  // namespace
}  // namespace espalier::plan
