/// The sum of rows against their addition one by one.
#include "espalier/kernels/row_sum.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "espalier/base/random.h"
#include "tests/kernels/targets.h"

namespace espalier::kernels {
namespace {

TEST(RowSum, HasTheBitsOfAdditionsInOrderWhereverRowsLie) {
  on_every_target([] {
    for (const std::int64_t count : {0, 1, 2, 7, 8, 9, 16, 65})
      for (const std::int64_t width : {1, 3, 8, 16, 19, 64, 150}) {
        SCOPED_TRACE(::testing::Message() << count << " rows of " << width);
        Random random(static_cast<std::uint64_t>(count * 1000 + width));
        const std::int64_t stride = width + 2;
        std::vector<float> numbers(static_cast<std::size_t>((count + 1) * stride));
        for (float& x : numbers) x = static_cast<float>(random.uniform(-2, 2));
        // The last row is what is there before.
        const std::vector<float> before(numbers.end() - stride, numbers.end() - 2);
        std::vector<std::int64_t> offsets;
        std::vector<float> expected = before;
        for (std::int64_t r = 0; r < count; ++r) {
          offsets.push_back(r * stride);
          for (std::int64_t j = 0; j < width; ++j)
            expected[static_cast<std::size_t>(j)] += numbers[static_cast<std::size_t>(r * stride + j)];
        }
        std::vector<float> spaced = before;
        add_rows({numbers.data(), count, width, stride, nullptr}, spaced.data());
        EXPECT_TRUE(spaced == expected);
        std::vector<float> scattered = before;
        add_rows({numbers.data(), count, width, 0, offsets.data()}, scattered.data());
        EXPECT_TRUE(scattered == expected);
      }
  });
}

}  // namespace
}  // namespace espalier::kernels
