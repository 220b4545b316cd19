/// Reductions, updates, softmax and row moves against plain loops in double.
#include "espalier/kernels/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "tests/kernels/targets.h"
#include "tests/support/numbers.h"

namespace espalier::kernels {
namespace {

using testing::kInf;
using testing::kNaN;

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> list(70);
  std::iota(list.begin(), list.end(), std::size_t{0});
  list.insert(list.end(), {127, 128, 129, 1000});
  return list;
}

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(random.uniform(-2, 2));
  return x;
}

/// Runs `body(n, a, b)` for every length and target; the vectors have exactly n elements, so that a sanitizer sees
/// every read or write outside.
template <class Body>
void for_every_length(const Body& body) {
  on_every_target([&] {
    for (const std::size_t n : lengths()) {
      SCOPED_TRACE(n);
      body(n, random_floats(n, 2 * n), random_floats(n, 2 * n + 1));
    }
  });
}

TEST(Reductions, EqualPlainLoops) {
  for_every_length([](std::size_t n, const std::vector<float>& a, const std::vector<float>& b) {
    double total = 0;
    double product = 0;
    double squares = 0;
    float most = -kInf;
    for (std::size_t i = 0; i < n; ++i) {
      total += a[i];
      product += double{a[i]} * b[i];
      squares += double{a[i]} * a[i];
      most = std::max(most, a[i]);
    }
    const double tolerance = 1e-6 * (1 + static_cast<double>(n));
    EXPECT_NEAR(sum(a), total, tolerance);
    EXPECT_NEAR(dot(a, b), product, tolerance);
    EXPECT_NEAR(squared_norm(a), squares, tolerance);
    EXPECT_EQ(max(a), most);
  });
}

TEST(Reductions, MaxPassesNaNFromEveryPlace) {
  on_every_target([] {
    for (std::size_t n = 1; n < 40; ++n) {
      for (std::size_t place = 0; place < n; ++place) {
        std::vector<float> x(n, 1.0F);
        x[place] = kNaN;
        EXPECT_TRUE(std::isnan(max(x))) << place << " of " << n;
        x[place] = kInf;
        EXPECT_EQ(max(x), kInf);
        x[place] = 2.0F;
        EXPECT_EQ(max(x), 2.0F);
      }
      EXPECT_EQ(max(std::vector<float>(n, -kInf)), -kInf);
    }
  });
}

TEST(Updates, EqualPlainLoops) {
  for_every_length([](std::size_t n, const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> added = b;
    add(a, added);
    std::vector<float> scaled_sum = b;
    add_scaled(0.5F, a, scaled_sum);
    std::vector<float> scaled = b;
    scale(-3.0F, scaled);
    std::vector<float> multiplied(n, 1.0F);
    multiply_add(a, b, multiplied);
    std::vector<float> filled = b;
    fill(7.0F, filled);
    std::vector<float> copied = b;
    copy(a, copied);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(added[i], a[i] + b[i]);
      EXPECT_NEAR(scaled_sum[i], b[i] + 0.5 * double{a[i]}, 1e-6);
      EXPECT_EQ(scaled[i], -3.0F * b[i]);
      EXPECT_NEAR(multiplied[i], 1.0 + double{a[i]} * b[i], 1e-6);
    }
    EXPECT_EQ(filled, std::vector<float>(n, 7.0F));
    EXPECT_EQ(copied, a);
  });
}

TEST(Updates, AddDoublesItself) {
  std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  add(x, x);
  EXPECT_EQ(x, (std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
}

TEST(Updates, RefuseSpansOfDifferentSizes) {
  const std::vector<float> x(3);
  std::vector<float> y(2);
  EXPECT_THROW(add(x, y), UsageError);
  EXPECT_THROW(add_scaled(1, x, y), UsageError);
  EXPECT_THROW(multiply_add(x, x, y), UsageError);
  EXPECT_THROW(multiply_add(x, y, y), UsageError);
  EXPECT_THROW(copy(x, y), UsageError);
  EXPECT_THROW(softmax(x, y), UsageError);
  EXPECT_THROW(log_softmax(x, y), UsageError);
  EXPECT_THROW(dot(x, y), UsageError);
}

TEST(Softmax, EqualsTheDefinition) {
  for_every_length([](std::size_t n, const std::vector<float>& x, const std::vector<float>&) {
    std::vector<float> y(n);
    std::vector<float> logs(n);
    softmax(x, y);
    log_softmax(x, logs);
    double total = 0;
    for (const float v : x) total += std::exp(double{v});
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(y[i], std::exp(double{x[i]}) / total, 1e-6);
      EXPECT_NEAR(logs[i], double{x[i]} - std::log(total), 3e-6);
    }
    if (n > 0) {
      EXPECT_NEAR(logsumexp(x), std::log(total), 2e-6);
    }
  });
}

TEST(Softmax, RowsSumToOne) {
  for_every_length([](std::size_t n, std::vector<float> x, std::vector<float> y) {
    if (n == 0) return;
    scale(40.0F, x);
    softmax(x, y);
    EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1.0, 2e-6);
  });
}

TEST(Softmax, DoesNotChangeWhenAConstantIsAdded) {
  const std::vector<float> x{-1, 0.5F, 2, 0.25F, 1};
  std::vector<float> shifted = x;
  for (float& v : shifted) v += 1024;
  std::vector<float> y(5);
  std::vector<float> z(5);
  softmax(x, y);
  softmax(shifted, z);
  EXPECT_EQ(y, z);
}

TEST(Softmax, StaysFiniteForLargeElements) {
  on_every_target([] {
    const std::vector<float> x{3e38F, -3e38F, 3e38F};
    std::vector<float> y(3);
    softmax(x, y);
    EXPECT_EQ(y, (std::vector<float>{0.5F, 0.0F, 0.5F}));
    EXPECT_EQ(logsumexp(x), 3e38F);
    EXPECT_NEAR(logsumexp(std::vector<float>{-1000, -1000}), -1000 + std::log(2.0), 1e-4);
    log_softmax(std::vector<float>{0, -1000}, std::span(y).first(2));
    EXPECT_EQ(y[0], 0.0F);
    EXPECT_EQ(y[1], -1000.0F);
  });
}

TEST(Softmax, GivesNothingToMinusInfinity) {
  on_every_target([] {
    const std::vector<float> x{0, -kInf, 0};
    std::vector<float> y(3);
    softmax(x, y);
    EXPECT_EQ(y, (std::vector<float>{0.5F, 0.0F, 0.5F}));
    log_softmax(x, y);
    EXPECT_NEAR(y[0], -std::log(2.0), 1e-6);
    EXPECT_EQ(y[1], -kInf);
    EXPECT_NEAR(logsumexp(x), std::log(2.0), 1e-6);
  });
}

TEST(Softmax, AtInfinityIsWhatTheMathematicsSay) {
  on_every_target([] {
    const auto all_nan = [](const std::vector<float>& y) {
      return std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); });
    };
    std::vector<float> y(3);
    for (const std::vector<float>& x : {std::vector<float>{-kInf, -kInf, -kInf}, {1, kInf, 2}, {1, kNaN, -kInf}}) {
      softmax(x, y);
      EXPECT_TRUE(all_nan(y));
      log_softmax(x, y);
      EXPECT_TRUE(all_nan(y));
    }
    EXPECT_EQ(logsumexp(std::vector<float>{-kInf, -kInf}), -kInf);
    EXPECT_EQ(logsumexp(std::vector<float>{1, kInf, -kInf}), kInf);
    EXPECT_TRUE(std::isnan(logsumexp(std::vector<float>{1, kNaN, kInf})));
    EXPECT_EQ(logsumexp({}), -kInf);
  });
}

TEST(Softmax, WorksInPlace) {
  std::vector<float> x = random_floats(37, 1);
  std::vector<float> y(37);
  softmax(x, y);
  std::vector<float> z = x;
  softmax(z, z);
  EXPECT_EQ(z, y);
  log_softmax(x, y);
  log_softmax(x, x);
  EXPECT_EQ(x, y);
}

TEST(Rows, GatherCopiesRows) {
  const std::vector<float> table{0, 1, 2, 10, 11, 12, 20, 21, 22};
  const std::vector<std::int32_t> rows{2, 0, 2};
  std::vector<float> out(9);
  gather_rows(table.data(), 3, rows, out.data());
  EXPECT_EQ(out, (std::vector<float>{20, 21, 22, 0, 1, 2, 20, 21, 22}));
  gather_rows(table.data(), 3, {}, nullptr);
  gather_rows(nullptr, 0, rows, nullptr);
}

TEST(Rows, ScatterAddsRepeatedRows) {
  on_every_target([] {
    std::vector<float> table{0, 1, 2, 10, 11, 12, 20, 21, 22};
    const std::vector<float> in{1, 2, 3, 4, 5, 6, 7, 8, 9};
    scatter_add_rows(in.data(), 3, std::vector<std::int32_t>{2, 0, 2}, table.data());
    EXPECT_EQ(table, (std::vector<float>{4, 6, 8, 10, 11, 12, 28, 31, 34}));
    scatter_add_rows(nullptr, 3, {}, table.data());
  });
}

TEST(Rows, ScatterAddsInTheOrderOfItsRows) {
  // In float, 1e8 + 1 - 1e8 is 0 from left to right only.
  const std::vector<float> in{1e8F, 1, -1e8F};
  float table = 0;
  scatter_add_rows(in.data(), 1, std::vector<std::int32_t>{0, 0, 0}, &table);
  EXPECT_EQ(table, 0.0F);
}

TEST(Rows, ScatterIsTheTransposeOfGather) {
  for (const std::int64_t width : {1, 5, 8, 13, 64}) {
    const auto w = static_cast<std::size_t>(width);
    const std::vector<float> table = random_floats(6 * w, 1);
    const std::vector<float> in = random_floats(4 * w, 2);
    const std::vector<std::int32_t> rows{5, 1, 1, 3};
    std::vector<float> gathered(4 * w);
    gather_rows(table.data(), width, rows, gathered.data());
    std::vector<float> scattered(6 * w);
    scatter_add_rows(in.data(), width, rows, scattered.data());
    EXPECT_NEAR(dot(gathered, in), dot(table, scattered), 1e-4);
  }
}

}  // namespace
}  // namespace espalier::kernels
