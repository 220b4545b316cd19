/// Memory that only grows, never moves, and is used again.
#include "espalier/base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace espalier {
namespace {

TEST(Arena, AllocationsAreAlignedAndApart) {
  Arena arena;
  std::byte* last = nullptr;
  for (std::size_t size : {1, 63, 64, 65, 1000, 100'000, 3'000'000}) {
    std::byte* p = arena.allocate(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
    EXPECT_NE(p, last);
    std::memset(p, 1, size);  // for the address sanitizer to look at
    last = p;
  }
}

TEST(Arena, GivesTheSameMemoryAgainAfterClear) {
  Arena arena;
  const auto fill = [&] {
    std::set<std::byte*> places;
    for (int i = 0; i < 300; ++i) places.insert(arena.allocate(static_cast<std::size_t>(1000 + i)));
    return places;
  };
  const std::set<std::byte*> first = fill();
  EXPECT_EQ(first.size(), 300U);
  arena.clear();
  EXPECT_EQ(arena.bytes_used(), 0U);
  EXPECT_EQ(fill(), first);
}

TEST(Arena, PassesOverChunksThatAreTooSmall) {
  Arena arena;
  for (int i = 0; i < 10; ++i) arena.allocate(60'000);
  arena.clear();
  std::byte* large = arena.allocate(10'000'000);
  std::memset(large, 1, 10'000'000);
  EXPECT_GE(arena.bytes_used(), 10'000'000U);
}

}  // namespace
}  // namespace espalier
