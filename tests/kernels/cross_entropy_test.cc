/// Cross entropy of few classes against plain loops in double, and to the bit against one row at a time.
#include "espalier/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tests/kernels/row_block.h"
#include "tests/kernels/targets.h"

namespace espalier::kernels {
namespace {

struct CrossEntropyCase {
  std::int64_t rows;
  std::int64_t classes;
  Lying lying;
  bool store;
};

std::vector<std::int32_t> labels_of_case(const CrossEntropyCase& c) {
  std::vector<std::int32_t> labels;
  for (std::int64_t r = 0; r < c.rows; ++r) labels.push_back(static_cast<std::int32_t>((5 * r + 1) % c.classes));
  return labels;
}

void expect_right_cross_entropy(const CrossEntropyCase& c) {
  RowBlock x(c.rows, c.classes, c.lying, 1);
  RowBlock log_softmax(c.rows, c.classes, c.lying, 2);
  RowBlock y(c.rows, 1, c.lying, 3);
  RowBlock dy(c.rows, 1, c.lying, 4);
  RowBlock dx(c.rows, c.classes, c.lying, 5);
  RowBlock before = dx;
  const std::vector<std::int32_t> labels = labels_of_case(c);
  cross_entropy(x.rows(), labels, log_softmax.rows(), y.rows());
  cross_entropy_gradient(log_softmax.rows(), labels, dy.rows(), dx.rows(), c.store);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    double total = 0;
    for (std::int64_t k = 0; k < c.classes; ++k) total += std::exp(static_cast<double>(x.at(r, k)));
    const std::int32_t label = labels[static_cast<std::size_t>(r)];
    ASSERT_NEAR(y.at(r, 0), std::log(total) - x.at(r, label), 1e-5);
    for (std::int64_t k = 0; k < c.classes; ++k) {
      const double expected = x.at(r, k) - std::log(total);
      ASSERT_NEAR(log_softmax.at(r, k), expected, 1e-5);
      const double slope = dy.at(r, 0) * (std::exp(expected) - (k == label ? 1 : 0));
      ASSERT_NEAR(dx.at(r, k), slope + (c.store ? 0 : before.at(r, k)), 1e-5);
    }
    // One row alone.
    const std::span<const std::int32_t> own(&labels[static_cast<std::size_t>(r)], 1);
    RowBlock alone(1, c.classes, Lying::kDense, 6);
    RowBlock loss(1, 1, Lying::kDense, 7);
    cross_entropy(x.row(r), own, alone.rows(), loss.rows());
    ASSERT_EQ(loss.at(0, 0), y.at(r, 0));
    for (std::int64_t k = 0; k < c.classes; ++k) ASSERT_EQ(alone.at(0, k), log_softmax.at(r, k));
    cross_entropy_gradient(log_softmax.row(r), own, dy.row(r), before.row(r), c.store);
    for (std::int64_t k = 0; k < c.classes; ++k) ASSERT_EQ(before.at(r, k), dx.at(r, k));
  }
  // What lies between rows is left alone.
  EXPECT_EQ(before.numbers(), dx.numbers());
}

TEST(CrossEntropyKernels, AgreeWithPlainLoops) {
  on_every_target([] {
    for (const std::int64_t rows : {1, 3, 16, 37})
      for (const std::int64_t classes : {1, 2, 5, 17, 256})
        for (const Lying lying : {Lying::kDense, Lying::kSpaced, Lying::kScattered})
          for (const bool store : {true, false}) expect_right_cross_entropy({rows, classes, lying, store});
  });
}

TEST(CrossEntropyKernels, KeepNumbersOutOfTheOrdinary) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  on_every_target([] {
    // Far apart, minus infinity, and NaN, which stays in its row.
    std::vector<float> x{-1000, 1000, 0, -kInf, 0, 0, std::nanf(""), 0, 0, 1, 2, 3};
    std::vector<float> log_softmax(12);
    std::vector<float> y(4);
    const std::vector<std::int32_t> labels{0, 1, 1, 2};
    cross_entropy({x.data(), 4, 3, 3, nullptr}, labels, {log_softmax.data(), 4, 3, 3, nullptr},
                  {y.data(), 4, 1, 1, nullptr});
    EXPECT_EQ(y[0], 2000);
    EXPECT_NEAR(y[1], std::log(2.0), 1e-6);
    EXPECT_EQ(log_softmax[3], -kInf);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_NEAR(y[3], std::log(1 + std::exp(-1.0) + std::exp(-2.0)), 1e-6);

    // Of a probability that is nearly 1, the gradient is what is missing.
    log_softmax = {-1e-9F, -21, -22};
    std::vector<float> dx(3);
    const float one = 1;
    cross_entropy_gradient({log_softmax.data(), 1, 3, 3, nullptr}, std::vector{0}, {&one, 1, 1, 1, nullptr},
                           {dx.data(), 1, 3, 3, nullptr}, /*store=*/true);
    EXPECT_FLOAT_EQ(dx[0], -1e-9F);
  });
}

}  // namespace
}  // namespace espalier::kernels
