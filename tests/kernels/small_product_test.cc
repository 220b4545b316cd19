/// Small products against plain loops in double: every tail of rows, columns and terms, rows that lie anywhere, and
/// the same bits however rows are grouped; on every instruction set of this processor.
#include "espalier/kernels/small_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "tests/kernels/targets.h"
#include "tests/support/numbers.h"

namespace espalier::kernels {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::size;

/// Rows of random numbers among NaN: evenly spaced, or at offsets in no order.
class Numbers {
 public:
  Numbers(std::int64_t count, std::int64_t width, bool scattered, std::uint64_t seed)
      : count_(count), width_(width), next_(width + 3), memory_(size(count * next_ + 1), kNaN) {
    Random random(seed);
    for (std::int64_t r = 0; r < count && scattered; ++r) offsets_.push_back((count - 1 - r) * next_ + r % 2);
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t i = 0; i < width; ++i) rows()[r][i] = static_cast<float>(random.uniform(-1, 1));
  }
  Rows rows() { return {memory_.data(), count_, width_, next_, offsets_.empty() ? nullptr : offsets_.data()}; }
  std::int64_t next() const { return next_; }
  double at(std::int64_t r, std::int64_t i) { return rows()[r][i]; }
  /// Whether nothing but the rows was written.
  bool is_clean() const {
    std::int64_t numbers = 0;
    for (float number : memory_) numbers += std::isnan(number) ? 0 : 1;
    return numbers == count_ * width_;
  }

 private:
  std::int64_t count_;
  std::int64_t width_;
  std::int64_t next_;
  std::vector<float> memory_;
  std::vector<std::int64_t> offsets_;
};

struct SmallCase {
  std::int64_t rows;
  std::int64_t k;
  std::int64_t n;
  bool accumulate = false;
  bool scattered = false;
  bool has_bias = false;

  std::string text() const {
    return "rows " + std::to_string(rows) + ", k " + std::to_string(k) + ", n " + std::to_string(n) +
           (accumulate ? ", accumulated" : "") + (scattered ? ", scattered" : "") + (has_bias ? ", bias" : "");
  }
};

/// X[rows, k], W[k, n], Y[rows, n], all with gaps, but for a W of one column if it is `dense`.
struct Operands {
  explicit Operands(const SmallCase& of)
      : c(of),
        x(of.rows, of.k, of.scattered, 1),
        w(of.k, of.n, false, 2),
        y(of.rows, of.n, of.scattered, 3),
        bias(1, of.n, false, 4) {}
  SmallCase c;
  Numbers x, w, y, bias;
};

/// How many numbers of `given` are not before + sum, where the sum has so many terms.
template <class Sum>
int wrong(Numbers& given, Numbers& before, const SmallCase& c, std::int64_t terms, const Sum& sum) {
  const double tolerance = 2e-6 * (1 + std::sqrt(static_cast<double>(terms)));
  int count = given.is_clean() ? 0 : 1;
  for (std::int64_t r = 0; r < given.rows().count; ++r)
    for (std::int64_t i = 0; i < given.rows().width; ++i) {
      const double expected = sum(r, i) + (c.accumulate ? before.at(r, i) : 0.0);
      if (!(std::abs(given.at(r, i) - expected) <= tolerance)) ++count;
    }
  return count;
}

void check_product(const SmallCase& c) {
  Operands o(c);
  Numbers y = o.y;
  Numbers rectified = o.y;
  const float* const bias = c.has_bias ? o.bias.rows().data : nullptr;
  small_product(o.x.rows(), o.w.rows().data, o.w.next(), bias, y.rows(), c.accumulate);
  small_product(o.x.rows(), o.w.rows().data, o.w.next(), bias, rectified.rows(), c.accumulate, /*relu=*/true);
  for (std::int64_t r = 0; r < c.rows; ++r)
    for (std::int64_t j = 0; j < c.n; ++j) EXPECT_EQ(rectified.at(r, j), std::max(0.0, y.at(r, j))) << c.text();
  EXPECT_EQ(wrong(y, o.y, c, c.k,
                  [&](std::int64_t r, std::int64_t j) {
                    double sum = c.has_bias ? o.bias.at(0, j) : 0;
                    for (std::int64_t p = 0; p < c.k; ++p) sum += o.x.at(r, p) * o.w.at(p, j);
                    return sum;
                  }),
            0)
      << c.text();
}

void check_transposed(const SmallCase& c) {
  Operands o(c);
  Numbers x = o.x;
  small_product_transposed(o.y.rows(), o.w.rows().data, o.w.next(), x.rows(), c.accumulate);
  EXPECT_EQ(wrong(x, o.x, c, c.n,
                  [&](std::int64_t r, std::int64_t i) {
                    double sum = 0;
                    for (std::int64_t j = 0; j < c.n; ++j) sum += o.y.at(r, j) * o.w.at(i, j);
                    return sum;
                  }),
            0)
      << c.text();
}

void check_gradient(const SmallCase& c) {
  Operands o(c);
  Numbers dw = o.w;
  small_weight_gradient(o.x.rows(), o.y.rows(), dw.rows().data, dw.next(), c.accumulate);
  EXPECT_EQ(wrong(dw, o.w, c, c.rows,
                  [&](std::int64_t i, std::int64_t j) {
                    double sum = 0;
                    for (std::int64_t r = 0; r < c.rows; ++r) sum += o.x.at(r, i) * o.y.at(r, j);
                    return sum;
                  }),
            0)
      << c.text();
}

/// Columns on both sides of one, two and four vectors of 4, 8 and 16 lanes.
const std::vector<std::int64_t> kColumns{1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 100, 129};
const std::vector<std::int64_t> kTerms{0, 1, 2, 3, 4, 5, 7, 17, 33};

template <class Check>
void check_all(const Check& check) {
  on_every_target([&] {
    for (std::int64_t rows = 1; rows <= 14; ++rows)
      for (const std::int64_t n : kColumns) check(SmallCase{rows, 6, n, n % 2 == 0, rows % 2 == 0, n % 3 == 0});
    for (const std::int64_t k : kTerms)
      for (const std::int64_t n : {1, 5, 16, 17, 40})
        for (const std::int64_t rows : {1, 2, 3, 6, 7}) {
          check(SmallCase{rows, k, n, false, false, true});
          check(SmallCase{rows, k, n, true, true, k % 2 == 0});
        }
    // Rows on both sides of a vector of them: a matrix of few columns is multiplied by so many at a time.
    for (const std::int64_t k : kTerms)
      for (const std::int64_t n : {2, 3, 6, 7})
        for (const std::int64_t rows : {9, 10, 16, 25, 26, 33}) {
          check(SmallCase{rows, k, n, false, k % 2 == 0, true});
          check(SmallCase{rows, k, n, true, k % 2 == 1, false});
        }
  });
}

TEST(SmallProduct, EqualsPlainLoops) { check_all(check_product); }
TEST(SmallProduct, TransposedEqualsPlainLoops) { check_all(check_transposed); }
TEST(SmallProduct, GradientsEqualPlainLoops) {
  check_all(check_gradient);
  on_every_target([] {
    // Rows that are taken in several goes.
    for (const std::int64_t rows : {0, 255, 256, 257, 600}) {
      check_gradient({rows, 7, 20, false, true});
      check_gradient({rows, 7, 1, true, false});
    }
  });
}

/// A column without gaps is multiplied as a row.
TEST(SmallProduct, OfASingleColumnEqualsPlainLoops) {
  on_every_target([] {
    for (const std::int64_t k : {1, 3, 4, 16, 33})
      for (const std::int64_t rows : {1, 2, 3, 4, 5, 9})
        for (const bool accumulate : {false, true}) {
          Operands o({rows, k, 1, accumulate, rows % 2 == 0, true});
          Numbers column(1, k, false, 5);
          const float* w = column.rows().data;
          Numbers y = o.y;
          small_product(o.x.rows(), w, 1, o.bias.rows().data, y.rows(), accumulate);
          Numbers x = o.x;
          small_product_transposed(o.y.rows(), w, 1, x.rows(), accumulate);
          Numbers dw = column;
          small_weight_gradient(o.x.rows(), o.y.rows(), dw.rows().data, 1, accumulate);
          const auto forward = [&](std::int64_t r, std::int64_t) {
            double sum = o.bias.at(0, 0);
            for (std::int64_t i = 0; i < k; ++i) sum += o.x.at(r, i) * column.at(0, i);
            return sum;
          };
          const auto backward = [&](std::int64_t r, std::int64_t i) { return o.y.at(r, 0) * column.at(0, i); };
          const auto gradient = [&](std::int64_t, std::int64_t i) {
            double sum = 0;
            for (std::int64_t r = 0; r < rows; ++r) sum += o.x.at(r, i) * o.y.at(r, 0);
            return sum;
          };
          EXPECT_EQ(wrong(y, o.y, o.c, k, forward), 0) << o.c.text();
          EXPECT_EQ(wrong(x, o.x, o.c, 1, backward), 0) << o.c.text();
          EXPECT_EQ(wrong(dw, column, o.c, rows, gradient), 0) << o.c.text();
        }
  });
}

TEST(SmallProduct, GivesARowTheSameBitsInAnyCompany) {
  on_every_target([] {
    for (const std::int64_t n : {1, 2, 5, 6, 16, 32, 40, 64, 129})
      for (const std::int64_t rows : {2, 3, 5, 6, 7, 13, 64}) {
        const SmallCase c{rows, 37, n, false, false, true};
        Operands o(c);
        Numbers together = o.y;
        Numbers together_x = o.x;
        small_product(o.x.rows(), o.w.rows().data, o.w.next(), o.bias.rows().data, together.rows(), false);
        small_product_transposed(o.y.rows(), o.w.rows().data, o.w.next(), together_x.rows(), false);
        for (std::int64_t r = 0; r < rows; ++r) {
          std::vector<float> y(size(n));
          small_product({o.x.rows()[r], 1, c.k, c.k, nullptr}, o.w.rows().data, o.w.next(), o.bias.rows().data,
                        {y.data(), 1, n, n, nullptr}, false);
          for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(y[size(j)], together.rows()[r][j]) << c.text();
          std::vector<float> x(size(c.k));
          small_product_transposed({o.y.rows()[r], 1, n, n, nullptr}, o.w.rows().data, o.w.next(),
                                   {x.data(), 1, c.k, c.k, nullptr}, false);
          for (std::int64_t i = 0; i < c.k; ++i) ASSERT_EQ(x[size(i)], together_x.rows()[r][i]) << c.text();
        }
      }
  });
}

TEST(SmallProduct, AddsUpRowsOfOneTarget) {
  on_every_target([] {
    const std::vector<float> x(7, 2.0F);
    const std::vector<float> w(20, 3.0F);
    const std::vector<std::int64_t> same(7, 0);
    std::vector<float> y(20, 1.0F);
    small_product({x.data(), 7, 1, 1, nullptr}, w.data(), 20, nullptr, {y.data(), 7, 20, 20, same.data()}, true);
    EXPECT_EQ(y, std::vector<float>(20, 43.0F));
    const std::vector<float> more(12, 2.0F);
    const std::vector<std::int64_t> one_target(12, 0);
    std::vector<float> few(3, 1.0F);
    small_product({more.data(), 12, 1, 1, nullptr}, w.data(), 3, nullptr, {few.data(), 12, 3, 3, one_target.data()},
                  true);
    EXPECT_EQ(few, std::vector<float>(3, 73.0F));
    std::vector<float> dx(5, 1.0F);
    small_product_transposed({x.data(), 7, 1, 1, nullptr}, w.data(), 2, {dx.data(), 7, 5, 5, same.data()}, true);
    EXPECT_EQ(dx, std::vector<float>(5, 43.0F));
  });
}

TEST(SmallProduct, PassesNaNAndInfinityToTheirNumbersOnly) {
  on_every_target([] {
    for (const std::int64_t n : {3, 16, 37}) {
      Operands o({5, 4, n});
      o.x.rows()[1][2] = kInf;
      o.w.rows()[2][1] = 0.0F;  // infinity by zero
      o.w.rows()[0][0] = kNaN;
      small_product(o.x.rows(), o.w.rows().data, o.w.next(), nullptr, o.y.rows(), false);
      for (std::int64_t r = 0; r < 5; ++r)
        for (std::int64_t j = 0; j < n; ++j) {
          const bool is_nan = j == 0 || (r == 1 && j == 1);
          EXPECT_EQ(std::isnan(o.y.at(r, j)), is_nan) << r << ", " << j;
          EXPECT_EQ(std::isinf(o.y.at(r, j)), r == 1 && !is_nan) << r << ", " << j;
        }
    }
  });
}

TEST(SmallProduct, OverwritesNaNUnlessItAccumulates) {
  std::vector<float> y(6, kNaN);
  const std::vector<float> ones(3, 1.0F);
  small_product({ones.data(), 2, 0, 0, nullptr}, ones.data(), 3, ones.data(), {y.data(), 2, 3, 3, nullptr}, false);
  EXPECT_EQ(y, std::vector<float>(6, 1.0F));
  std::vector<float> dw(6, kNaN);
  small_weight_gradient({ones.data(), 0, 2, 2, nullptr}, {ones.data(), 0, 3, 3, nullptr}, dw.data(), 3, false);
  EXPECT_EQ(dw, std::vector<float>(6, 0.0F));
}

}  // namespace
}  // namespace espalier::kernels
