/// The memory of tensors: zeros that nobody touches take none, and what there is too little for is refused.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/tensor/tensor.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::refusal_of;

/// How many of the pages that lie in a tensor's elements are in memory.
std::int64_t resident_pages(const Tensor& tensor) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(tensor.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(tensor.data()) + tensor.bytes()) / page * page;
  std::vector<unsigned char> pages((end - begin) / page);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()), 0);
  return std::count_if(pages.begin(), pages.end(), [](unsigned char state) { return (state & 1U) != 0; });
}

TEST(TensorMemory, ZerosAreNotInMemoryUntilTheyAreTouched) {
  Tensor zeros(Shape{1 << 20, 16});
  EXPECT_EQ(resident_pages(zeros), 0);
  zeros.as<float>()[1 << 22] = 1;
  EXPECT_GT(resident_pages(zeros), 0);
  EXPECT_EQ(zeros.as<float>()[(1 << 22) - 1], 0);
}

TEST(TensorMemory, IsAlignedToCacheLines) {
  for (const std::int64_t size : {1, 100, 1 << 18, (1 << 18) + 1, 1 << 22}) {
    const Tensor zeros(Shape{size});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(zeros.data()) % 64, 0U);
    EXPECT_TRUE(std::all_of(zeros.as<float>().begin(), zeros.as<float>().end(), [](float x) { return x == 0; }));
    Tensor copy = zeros;
    const Tensor moved = std::move(copy);
    EXPECT_EQ(moved, zeros);
  }
}

TEST(TensorMemory, ThatThereIsNotIsRefusedWithTheNumbers) {
  const Shape beyond{1 << 22, 1 << 22};  // 2^44 elements
  const std::string sentence =
      "tensor float32[4194304, 4194304]: 70368744177664 bytes are needed, more than there is memory for";
  EXPECT_EQ(refusal_of<ResourceError>([&] { Tensor{beyond}; }), sentence);
  EXPECT_EQ(refusal_of<ResourceError>([&] { Tensor::unset(beyond); }), sentence);
  EXPECT_EQ(refusal_of<ResourceError>([&] { Tensor::filled(beyond, 1); }), sentence);
}

TEST(TensorMemory, OfAnArenaIsRefusedAndTheArenaGoesOn) {
  Arena arena;
  std::byte* const before = arena.allocate(64);
  EXPECT_EQ(refusal_of<ResourceError>([&] { arena.allocate(std::size_t{1} << 46); }),
            "graph: 70368744177664 bytes are needed, more than there is memory for");
  EXPECT_EQ(arena.allocate(64), before + 64);
}

TEST(Shapes, OfMoreElementsThanCanBeAreRefused) {
  EXPECT_EQ(refusal_of<ResourceError>([] {
              Shape{2'000'000'000, 2'000'000'000};
            }),
            "shape: [2000000000, 2000000000] has 4e+18 elements, and the most there can be is 17592186044416");
  const std::int64_t most = 2'147'483'647;
  EXPECT_EQ(refusal_of<ResourceError>([&] {
              Shape{most, most, most, most};
            }),
            "shape: [2147483647, 2147483647, 2147483647, 2147483647] has 2.127e+37 elements, and the most there can be "
            "is 17592186044416");
  EXPECT_EQ(refusal_of<ResourceError>([&] {
              static_cast<void>(Shape{most, 2}.inserted(0, most));
            }),
            "shape: [2147483647, 2147483647, 2] has 9.223e+18 elements, and the most there can be is 17592186044416");
  EXPECT_THROW(static_cast<void>(Shape{most, 2}.with(1, most)), ResourceError);
  EXPECT_THROW((Shape{most, most, most, 0}), ResourceError);  // their product overflows before it is 0
  EXPECT_EQ((Shape{1 << 22, 1 << 22}.elements()), Shape::kMostElements);
}

}  // namespace
}  // namespace espalier
