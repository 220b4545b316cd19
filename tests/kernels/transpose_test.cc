/// Transposes of all shapes of tails, with gaps between rows.
#include "espalier/kernels/transpose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/targets.h"

namespace espalier::kernels {
namespace {

TEST(Transpose, PutsEveryNumberInItsPlaceAndNoneElsewhere) {
  on_every_target([] {
    for (const std::int64_t rows : {0, 1, 3, 4, 5, 16, 18, 37})
      for (const std::int64_t columns : {0, 1, 2, 4, 7, 8, 33}) {
        const std::int64_t next_from = columns + 2;
        const std::int64_t next_to = rows + 3;
        std::vector<float> from(static_cast<std::size_t>(rows * next_from));
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
        std::vector<float> to(static_cast<std::size_t>(columns * next_to), std::numeric_limits<float>::quiet_NaN());
        transpose(rows, columns, from.data(), next_from, to.data(), next_to);
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = 0; i < next_to; ++i) {
            const float given = to[static_cast<std::size_t>(j * next_to + i)];
            if (i < rows)
              ASSERT_EQ(given, static_cast<float>(i * next_from + j)) << rows << " x " << columns;
            else
              ASSERT_TRUE(std::isnan(given)) << "between rows";
          }
      }
  });
}

}  // namespace
}  // namespace espalier::kernels
