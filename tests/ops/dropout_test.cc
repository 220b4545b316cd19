#include "espalier/ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/ops/tanh.h"
#include "tests/ops/run_step.h"

namespace espalier {
namespace {

using ops::Dropout;
using ops::DropoutFields;

/// Which of n elements are kept.
std::vector<bool> mask(const DropoutFields& fields, std::int64_t n, double rate = 0.5) {
  const StepOf<Dropout> step{{Shape{n}}, {std::vector<float>(static_cast<std::size_t>(n), 1.0F)}, {rate}, {fields}};
  std::vector<bool> kept;
  for (float y : step.forward()) kept.push_back(y != 0);
  return kept;
}

/// The fields of a recorded node.
DropoutFields fields_of(const Expr& y) { return *static_cast<const DropoutFields*>(y.graph().fields(y.node())); }

double fraction_of(const std::vector<bool>& kept) {
  double count = 0;
  for (bool k : kept) count += k ? 1 : 0;
  return count / static_cast<double>(kept.size());
}

/// The fraction of places where two masks agree: 1/2 for independent ones of rate 1/2.
double agreement(const std::vector<bool>& a, const std::vector<bool>& b) {
  std::vector<bool> same;
  for (std::size_t i = 0; i < a.size(); ++i) same.push_back(a[i] == b[i]);
  return fraction_of(same);
}

TEST(Dropout, KeepsTheStatedFractionAndTheMean) {
  constexpr std::int64_t kElements = 100000;
  for (double rate : {0.1, 0.5, 0.9}) {
    const std::vector<float> ones(kElements, 1.0F);
    const StepOf<Dropout> step{{Shape{kElements}}, {ones}, {rate}, {{{1, 2}, 3, {4, 5}}}};
    double sum = 0;
    double kept = 0;
    for (float y : step.forward()) {
      sum += double{y};
      if (y == 0) continue;
      kept += 1;
      EXPECT_FLOAT_EQ(y, static_cast<float>(1 / (1 - rate)));
    }
    // Five standard deviations.
    const double slack = 5 * std::sqrt(rate * (1 - rate) / kElements);
    EXPECT_NEAR(kept / kElements, 1 - rate, slack);
    EXPECT_NEAR(sum / kElements, 1, slack / (1 - rate));
  }
}

TEST(Dropout, UsesTheSameMaskForwardAndBackward) {
  const std::vector<float> x(23 * 3, 1.5F);
  std::vector<float> dy;
  for (std::size_t i = 0; i < x.size(); ++i) dy.push_back(static_cast<float>(i + 1));
  const StepOf<Dropout> step{{Shape{23}}, {x}, {0.3}, {{{1, 2}, 0, {0, 0}}, {{1, 2}, 1, {0, 0}}, {{1, 2}, 0, {1, 0}}}};
  const auto result = step.run(dy);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(result.dx[0][i], result.y[i] / x[i] * dy[i]);
}

TEST(Dropout, DoesNotDependOnTheOrderOfTheRows) {
  const DropoutFields first{{7, 8}, 0, {0, 0}};
  const DropoutFields second{{7, 8}, 0, {1, 0}};
  std::vector<float> x(2 * 9);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 9 + 1);
  const std::vector<float> y = StepOf<Dropout>{{Shape{9}}, {x}, {0.5}, {first, second}}.forward();
  const std::vector<float> swapped = StepOf<Dropout>{{Shape{9}}, {x}, {0.5}, {second, first}}.forward();
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 9), std::vector<float>(swapped.begin() + 9, swapped.end()));
  EXPECT_EQ(std::vector<float>(y.begin() + 9, y.end()), std::vector<float>(swapped.begin(), swapped.begin() + 9));
}

TEST(Dropout, HasTheSameMaskInTheKernelAndThePlainCode) {
  const std::vector<double> x(31, 1.0);
  const std::vector<std::span<const double>> values{x};
  const std::vector<Shape> shapes{{31}};
  const DropoutFields fields{{9, 10}, 2, {3, 0}};
  std::vector<double> y(31);
  Dropout::plain<double>({0.5}, fields, PlainIn<double>{values, shapes, shapes[0]}, y);
  const std::vector<bool> kept = mask(fields, 31);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], kept[i] ? 2.0 : 0.0);
}

TEST(Dropout, DropsNaNToo) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const DropoutFields fields{{1, 2}, 3, {4, 5}};
  const std::vector<float> y = StepOf<Dropout>{{Shape{40}}, {std::vector<float>(40, nan)}, {0.5}, {fields}}.forward();
  const std::vector<bool> kept = mask(fields, 40);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), kept[i]);
}

TEST(Dropout, HasIndependentMasksForSeedsStepsInstancesAndPlaces) {
  constexpr std::int64_t kElements = 4096;
  const auto of = [](std::uint64_t seed, std::uint64_t step, std::uint64_t instance, std::uint32_t number) {
    return mask(DropoutFields::at(seed, step, {instance, number}), kElements);
  };
  const std::vector<std::vector<bool>> masks{of(0, 0, 0, 0),          of(1, 0, 0, 0),         of(0, 1, 0, 0),
                                             of(0, 0, 1, 0),          of(0, 0, 0, 1),         of(0, 0, 1ULL << 32, 0),
                                             of(0, 1ULL << 32, 0, 0), of(1ULL << 32, 0, 0, 0)};
  for (std::size_t a = 0; a < masks.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NEAR(agreement(masks[a], masks[b]), 0.5, 5 * 0.5 / 64) << a << " " << b;
}

/// Records one dropout in each of the instances with these keys; gives their masks in the order of the keys.
std::vector<std::vector<bool>> masks_of_instances(const std::vector<std::uint64_t>& keys, const GraphOptions& options) {
  Graph g(options);
  std::vector<std::vector<bool>> masks;
  for (std::uint64_t key : keys) {
    g.begin_instance(key);
    masks.push_back(mask(fields_of(dropout(g.input(Tensor({64}, DType::kFloat32)), 0.5)), 64));
  }
  return masks;
}

TEST(Dropout, DependsOnTheInstancesKeyAndNotOnItsPlaceInTheGraph) {
  const auto there = masks_of_instances({5, 6, 7}, {.seed = 3, .step = 4});
  const auto back = masks_of_instances({7, 6, 5}, {.seed = 3, .step = 4});
  EXPECT_EQ(there[0], back[2]);
  EXPECT_EQ(there[1], back[1]);
  EXPECT_EQ(there[2], back[0]);
  EXPECT_NE(there[0], there[1]);
  EXPECT_NE(there[0], masks_of_instances({5}, {.seed = 3, .step = 5})[0]);
  EXPECT_NE(there[0], masks_of_instances({5}, {.seed = 4, .step = 4})[0]);
}

TEST(Dropout, NumbersItsUsesWithinAnInstance) {
  Graph g;
  g.begin_instance(1);
  const Expr x = g.input(Tensor({4}, DType::kFloat32));
  EXPECT_EQ(fields_of(dropout(x, 0.5)).number, 0U);
  EXPECT_EQ(fields_of(dropout(x, 0.5)).number, 1U);
  g.begin_instance(2);
  EXPECT_EQ(fields_of(dropout(g.input(Tensor({4}, DType::kFloat32)), 0.5)).number, 0U);
}

TEST(Dropout, IsXItselfOutsideTrainingAndForRateZero) {
  Graph training;
  const Expr x = training.input(Tensor({2}, {1, 2}));
  EXPECT_EQ(dropout(x, 0).node(), x.node());
  Graph inference({.training = false});
  const Expr y = inference.input(Tensor({2}, {1, 2}));
  EXPECT_EQ(dropout(y, 0.5).node(), y.node());
  EXPECT_EQ(inference.size(), 1);
}

/// The message of the refusal of `rate`.
std::string refusal_of(Graph& g, double rate) {
  const Expr x = g.input(Tensor({2}, {1, 2}));
  const std::int32_t size = g.size();
  try {
    dropout(x, rate);
  } catch (const UsageError& error) {
    EXPECT_EQ(g.size(), size);
    return error.what();
  }
  return "";
}

TEST(Dropout, RefusesOtherRatesInAndOutsideTraining) {
  for (bool training : {true, false}) {
    Graph g({.training = training});
    EXPECT_EQ(refusal_of(g, 1).find("dropout: rate must be in [0, 1), and it is 1\n"), 0U);
    EXPECT_EQ(refusal_of(g, -0.1).find("dropout: rate must be in [0, 1), and it is -0.1\n"), 0U);
    EXPECT_EQ(refusal_of(g, std::nan("")).find("dropout: rate must be in [0, 1), and it is nan\n"), 0U);
    EXPECT_NE(refusal_of(g, 1).find("dropout_test.cc:"), std::string::npos);
  }
}

TEST(Dropout, UsesNoRandomNumberForARefusedRate) {
  Graph g;
  refusal_of(g, 2);
  EXPECT_EQ(g.next_random_place().number, 0U);
}

}  // namespace
}  // namespace espalier
