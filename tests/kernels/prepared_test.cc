/// Prepared matrices: right at every size, stride and number of threads, and as often as they are assigned.
#include "espalier/kernels/prepared.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "espalier/base/threads.h"
#include "tests/kernels/prepared_case.h"

namespace espalier::kernels {
namespace {

TEST(Prepared, EqualsPlainLoopsAtEverySize) {
  const std::vector<std::int64_t> sides{1, 2, 7, 15, 16, 17, 31, 64, 65, 100, 300};
  std::int64_t number = 0;
  for (const std::int64_t k : sides)
    for (const std::int64_t n : sides) {
      // Each combination of the other choices comes up many times, with other sizes.
      const std::int64_t choice = number++;
      for (const std::int64_t m : {std::int64_t{1}, 2 + choice % 14})
        expect_right({.k = k,
                      .n = n,
                      .m = m,
                      .extra = choice % 3,
                      .has_bias = choice % 2 == 0,
                      .accumulate = choice / 2 % 2 == 0,
                      .transposed = choice / 4 % 2 == 0});
    }
}

TEST(Prepared, EqualsPlainLoopsForEveryNumberOfRows) {
  for (const auto& [k, n] : {std::pair<std::int64_t, std::int64_t>{70, 65}, {96, 128}}) {
    PreparedCase with{.k = k, .n = n, .m = 1};
    Prepared matrix;
    PreparedProblem(with).assign(matrix);
    for (const std::int64_t m : {1, 2, 3, 5, 8, 13, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 200}) {
      with.m = m;
      with.extra = m % 2;
      with.has_bias = m % 3 == 0;
      with.accumulate = m % 4 == 1;
      const PreparedProblem problem(with);
      problem.assign(matrix);
      EXPECT_EQ(problem.wrong(problem.solve(matrix)), 0) << with.text();
    }
  }
}

TEST(Prepared, TakesBiasAndAccumulatesInEveryForm) {
  for (int form = 0; form < 16; ++form)
    expect_right({.k = 80,
                  .n = 72,
                  .m = 70,
                  .extra = (form & 8) != 0 ? 5 : 0,
                  .has_bias = (form & 1) != 0,
                  .accumulate = (form & 2) != 0,
                  .transposed = (form & 4) != 0});
}

TEST(Prepared, HasProductsOfNoRows) {
  for (const std::int64_t side : {3, 80}) {
    const PreparedProblem problem({.k = side, .n = side, .m = 0});
    Prepared matrix;
    problem.assign(matrix);
    EXPECT_EQ(problem.wrong(problem.solve(matrix)), 0);
  }
}

TEST(Prepared, IsTheSameInSeveralThreads) {
  const int before = thread_count();
  // Divided by rows, by columns, and not at all.
  for (const PreparedCase& of : {PreparedCase{.k = 300, .n = 150, .m = 200, .has_bias = true},
                                 PreparedCase{.k = 1100, .n = 1500, .m = 3, .extra = 1, .accumulate = true},
                                 PreparedCase{.k = 64, .n = 64, .m = 20, .transposed = true}}) {
    const PreparedProblem problem(of);
    Prepared matrix;
    problem.assign(matrix);
    for (const int threads : {1, 2}) {
      set_thread_count(threads);
      const GappedRows given = problem.solve(matrix);
      EXPECT_EQ(problem.wrong(given), 0) << of.text();
      const GappedRows again = problem.solve(matrix);
      for (std::int64_t i = 0; i < of.m; ++i)
        for (std::int64_t j = 0; j < of.n; ++j) ASSERT_EQ(given.at(i, j), again.at(i, j)) << of.text();
    }
  }
  set_thread_count(before);
}

TEST(Prepared, IsOfTheLastMatrixItWasAssigned) {
  Prepared matrix;
  EXPECT_TRUE(matrix.empty());
  for (const PreparedCase& of :
       {PreparedCase{.k = 80, .n = 90, .m = 5}, PreparedCase{.k = 80, .n = 90, .m = 6},
        PreparedCase{.k = 90, .n = 80, .m = 5, .transposed = true}, PreparedCase{.k = 3, .n = 5, .m = 4},
        PreparedCase{.k = 80, .n = 90, .m = 70, .has_bias = true}, PreparedCase{.k = 300, .n = 300, .m = 2}}) {
    const PreparedProblem problem(of);
    problem.assign(matrix);
    EXPECT_FALSE(matrix.empty());
    EXPECT_EQ(problem.wrong(problem.solve(matrix)), 0) << of.text();
  }
}

TEST(Prepared, CopiesTheNumbers) {
  std::vector<float> numbers(std::size_t{80} * 80, 0.5F);
  Prepared matrix;
  matrix.assign(80, 80, numbers.data(), 80);
  numbers.assign(numbers.size(), 100.0F);
  const std::vector<float> row(80, 1.0F);
  std::vector<float> result(80);
  matrix.product(1, row.data(), 80, nullptr, result.data(), 80, false);
  EXPECT_FLOAT_EQ(result[17], 40);
}

TEST(Prepared, Moves) {
  const PreparedProblem problem({.k = 80, .n = 90, .m = 5});
  Prepared first;
  problem.assign(first);
  Prepared second(std::move(first));
  EXPECT_EQ(problem.wrong(problem.solve(second)), 0);
  Prepared third;
  third = std::move(second);
  EXPECT_EQ(problem.wrong(problem.solve(third)), 0);
}

}  // namespace
}  // namespace espalier::kernels
