/// One prepared matrix in several threads at a time.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/kernels/prepared_case.h"

namespace espalier::kernels {
namespace {

TEST(PreparedThreads, MultiplyByOneMatrix) {
  constexpr std::int64_t kK = 83;
  constexpr std::int64_t kN = 91;
  const PreparedProblem of_matrix({.k = kK, .n = kN, .m = 40});
  Prepared matrix;
  of_matrix.assign(matrix);
  const GappedRows expected = of_matrix.solve(matrix);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      // Other numbers of rows are first met in all threads at once.
      for (std::int64_t m = 1; m < 20; ++m) {
        const std::vector<float> a(static_cast<std::size_t>(m * kK), 1.0F);
        std::vector<float> c(static_cast<std::size_t>(m * kN));
        matrix.product(m, a.data(), kK, nullptr, c.data(), kN, false);
        if (of_matrix.solve(matrix).values == expected.values && c[0] == c[static_cast<std::size_t>((m - 1) * kN)])
          ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3 * 19);
  EXPECT_EQ(of_matrix.wrong(expected), 0);
}

}  // namespace
}  // namespace espalier::kernels
