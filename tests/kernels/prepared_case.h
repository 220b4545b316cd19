/// Products with a prepared matrix against plain loops in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/kernels/prepared.h"

namespace espalier::kernels {

struct PreparedCase {
  std::int64_t k;
  std::int64_t n;
  std::int64_t m;
  std::int64_t extra = 0;  // how much wider than its rows each matrix is stored
  bool has_bias = false;
  bool accumulate = false;
  bool transposed = false;  // the matrix is given as its transpose

  std::string text() const {
    return "k " + std::to_string(k) + ", n " + std::to_string(n) + ", m " + std::to_string(m) + ", extra " +
           std::to_string(extra) + (has_bias ? ", bias" : "") + (accumulate ? ", accumulated" : "") +
           (transposed ? ", transposed" : "");
  }
};

/// Rows of random numbers with NaN in the gaps between them.
class GappedRows {
 public:
  GappedRows(std::int64_t rows, std::int64_t columns, std::int64_t extra, Random& random)
      : next(columns + extra), values(static_cast<std::size_t>(rows * next), std::numeric_limits<float>::quiet_NaN()) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) at(r, c) = static_cast<float>(random.uniform(-1, 1));
  }
  float& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * next + c)]; }
  float at(std::int64_t r, std::int64_t c) const { return values[static_cast<std::size_t>(r * next + c)]; }

  std::int64_t next;
  std::vector<float> values;
};

/// The operands of one product.
class PreparedProblem {
 public:
  explicit PreparedProblem(const PreparedCase& of) : case_(of) {
    if (!of.accumulate) c_.values.assign(c_.values.size(), std::numeric_limits<float>::quiet_NaN());
  }

  void assign(Prepared& to) const {
    if (case_.transposed)
      to.assign_transposed(case_.k, case_.n, b_.values.data(), b_.next);
    else
      to.assign(case_.k, case_.n, b_.values.data(), b_.next);
  }
  GappedRows solve(const Prepared& with) const {
    GappedRows c = c_;
    with.product(case_.m, a_.values.data(), a_.next, case_.has_bias ? bias_.values.data() : nullptr, c.values.data(),
                 c.next, case_.accumulate);
    return c;
  }
  /// How many elements are not as they should be, gaps between rows included.
  int wrong(const GappedRows& given) const {
    const double tolerance = 2e-6 * (1 + std::sqrt(static_cast<double>(case_.k)));
    int count = 0;
    for (std::int64_t i = 0; i < case_.m; ++i) {
      for (std::int64_t j = 0; j < case_.n; ++j) {
        double expected = (case_.accumulate ? c_.at(i, j) : 0.0) + (case_.has_bias ? bias_.at(0, j) : 0.0);
        for (std::int64_t l = 0; l < case_.k; ++l)
          expected += double{a_.at(i, l)} * double{case_.transposed ? b_.at(j, l) : b_.at(l, j)};
        if (!(std::abs(given.at(i, j) - expected) <= tolerance)) ++count;
      }
      for (std::int64_t j = case_.n; j < given.next; ++j)
        if (!std::isnan(given.at(i, j))) ++count;
    }
    return count;
  }

 private:
  PreparedCase case_;
  Random random_{static_cast<std::uint64_t>(case_.m * 10007 + case_.n * 101 + case_.k)};
  GappedRows a_{case_.m, case_.k, case_.extra, random_};
  GappedRows b_{case_.transposed ? case_.n : case_.k, case_.transposed ? case_.k : case_.n, case_.extra, random_};
  GappedRows c_{case_.m, case_.n, case_.extra, random_};
  GappedRows bias_{1, case_.n, 0, random_};
};

inline void expect_right(const PreparedCase& of) {
  const PreparedProblem problem(of);
  Prepared matrix;
  problem.assign(matrix);
  EXPECT_EQ(matrix.k(), of.k);
  EXPECT_EQ(matrix.n(), of.n);
  EXPECT_EQ(problem.wrong(problem.solve(matrix)), 0) << of.text();
}

}  // namespace espalier::kernels
