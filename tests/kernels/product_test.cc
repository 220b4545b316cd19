/// Matrix products against plain loops in double, over many sizes, strides and thread counts.
#include "espalier/kernels/product.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/base/threads.h"
#include "tests/kernels/targets.h"
#include "tests/support/numbers.h"

namespace espalier::kernels {
namespace {

using testing::kNaN;
using testing::size;

enum class Form { kPlain, kTransposedB, kTransposedA };
constexpr Form kForms[] = {Form::kPlain, Form::kTransposedB, Form::kTransposedA};

struct Case {
  Form form;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t extra;  // how much wider than its rows each matrix is stored
  bool accumulate;
};

/// A matrix stored with rows `extra` apart; the gaps and, if asked, the elements are NaN.
struct Stored {
  Stored(std::int64_t rows, std::int64_t columns, std::int64_t extra, Random& random)
      : leading(columns + extra), values(rows == 0 ? 0 : size((rows - 1) * leading + columns), kNaN) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) at(r, c) = static_cast<float>(random.uniform(-1, 1));
    }
  }
  float& at(std::int64_t r, std::int64_t c) { return values[size(r * leading + c)]; }

  std::int64_t leading;
  std::vector<float> values;
};

/// The operands of one call, and what it has to give.
struct Problem {
  explicit Problem(const Case& which) : t(which) {
    for (std::int64_t i = 0; i < t.m; ++i) {
      for (std::int64_t j = 0; j < t.n; ++j) {
        double sum = t.accumulate ? c.at(i, j) : 0.0;
        for (std::int64_t l = 0; l < t.k; ++l) {
          sum += double{at ? a.at(l, i) : a.at(i, l)} * double{bt ? b.at(j, l) : b.at(l, j)};
        }
        exact.push_back(sum);
        if (!t.accumulate) c.at(i, j) = kNaN;  // must be overwritten, not multiplied by zero
      }
    }
  }

  Stored solve() const {
    Stored result = c;
    const auto call = at ? product_transposed_a : bt ? product_transposed_b : product;
    call(t.m, t.n, t.k, a.values.data(), a.leading, b.values.data(), b.leading, result.values.data(), result.leading,
         t.accumulate);
    return result;
  }

  /// How many elements are not as they should be, gaps between rows included.
  int wrong(Stored result) const {
    const double tolerance = 2e-6 * (1 + std::sqrt(static_cast<double>(t.k)));
    int count = 0;
    auto expected = exact.begin();
    for (std::int64_t i = 0; i < t.m; ++i) {
      for (std::int64_t j = 0; j < t.n; ++j) {
        if (!(std::abs(result.at(i, j) - *expected++) <= tolerance)) ++count;
      }
      for (std::int64_t j = t.n; j < result.leading && i + 1 < t.m; ++j) {
        if (!std::isnan(result.at(i, j))) ++count;
      }
    }
    return count;
  }

  Case t;
  bool at = t.form == Form::kTransposedA;
  bool bt = t.form == Form::kTransposedB;
  Random random{size(t.m * 10007 + t.n * 101 + t.k)};
  Stored a{at ? t.k : t.m, at ? t.m : t.k, t.extra, random};
  Stored b{bt ? t.n : t.k, bt ? t.k : t.n, t.extra, random};
  Stored c{t.m, t.n, t.extra, random};
  std::vector<double> exact;
};

std::string name_of(const Case& t) {
  return "form " + std::to_string(static_cast<int>(t.form)) + ", m " + std::to_string(t.m) + ", n " +
         std::to_string(t.n) + ", k " + std::to_string(t.k) + ", extra " + std::to_string(t.extra) +
         (t.accumulate ? ", accumulated" : "");
}

void check(const Case& t) {
  const Problem problem(t);
  EXPECT_EQ(problem.wrong(problem.solve()), 0) << name_of(t);
}

TEST(Product, EqualsPlainLoopsAtEverySize) {
  const std::vector<std::int64_t> sides{0, 1, 2, 3, 5, 8, 17, 33};
  for (const Form form : kForms) {
    for (const std::int64_t m : sides) {
      for (const std::int64_t n : sides) {
        for (const std::int64_t k : sides) {
          check({form, m, n, k, (m + n + k) % 3, (m + n + k) % 2 == 0});
          check({form, m, n, k, (m + n + k) % 2, (m + n + k) % 2 != 0});
        }
      }
    }
  }
  for (const Form form : kForms) check({form, 70, 71, 72, 5, true});
}

TEST(Product, EqualsPlainLoopsWhereRowsAreFew) {
  on_every_target([] {
    for (const Form form : kForms) {
      for (const std::int64_t n : {1, 7, 31, 32, 64, 100, 129, 300}) {
        for (const std::int64_t k : {1, 4, 63, 64, 65, 250}) {
          for (const std::int64_t m : {1, 2}) {
            check({form, m, n, k, 0, false});
            check({form, m, n, k, 3, true});
          }
        }
      }
    }
  });
}

TEST(Product, IsTheSameInSeveralThreads) {
  const int before = thread_count();
  for (const Form form : kForms) {
    // Split by rows, by columns, not at all, and (k = 1) rows of an outer product.
    for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{301, 130, 70},
                                  {3, 700, 1100},
                                  {1, 1500, 1500},
                                  {40, 30, 20},
                                  {1100, 2050, 1}}) {
      const Problem problem({form, m, n, k, 1, m % 2 == 0});
      set_thread_count(1);
      EXPECT_EQ(problem.wrong(problem.solve()), 0) << name_of(problem.t);
      set_thread_count(2);
      const Stored two = problem.solve();
      EXPECT_EQ(problem.wrong(two), 0) << name_of(problem.t);
      const Stored again = problem.solve();
      const bool same_bits =
          std::memcmp(two.values.data(), again.values.data(), two.values.size() * sizeof(float)) == 0;
      EXPECT_TRUE(same_bits) << name_of(problem.t);
    }
  }
  set_thread_count(before);
}

TEST(Product, LeavesTheOpenMpSettingsOfTheCaller) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  check({Form::kPlain, 50, 50, 50, 0, false});
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

TEST(Product, MayBeCalledFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      for (const Form form : kForms) check({form, 120, 110, 100, 0, false});
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Product, PassesNaN) {
  for (const std::int64_t side : {4, 80}) {
    const std::vector<float> a(size(side * side), 1.0F);
    std::vector<float> b(size(side * side), 0.0F);
    b[size(side) + 2] = kNaN;
    std::vector<float> c(size(side * side));
    product(side, side, side, a.data(), side, b.data(), side, c.data(), side, false);
    EXPECT_TRUE(std::isnan(c[2]));
    EXPECT_EQ(c[1], 0.0F);
  }
}

TEST(Product, RefusesLeadingDimensionsSmallerThanARow) {
  std::vector<float> x(100);
  const auto text_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no exception";
  };
  EXPECT_EQ(text_of([&] { product(2, 3, 4, x.data(), 3, x.data(), 3, x.data(), 3, false); }),
            "product: leading dimension 3 of A is smaller than its width 4");
  EXPECT_EQ(text_of([&] { product_transposed_b(2, 3, 4, x.data(), 4, x.data(), 3, x.data(), 3, false); }),
            "product_transposed_b: leading dimension 3 of B is smaller than its width 4");
  EXPECT_EQ(text_of([&] { product_transposed_a(2, 3, 4, x.data(), 2, x.data(), 3, x.data(), 2, false); }),
            "product_transposed_a: leading dimension 2 of C is smaller than its width 3");
  EXPECT_EQ(text_of([&] { product(-1, 3, 4, x.data(), 4, x.data(), 3, x.data(), 3, false); }),
            "product: sizes m = -1, n = 3, k = 4 must not be negative");
}

}  // namespace
}  // namespace espalier::kernels
