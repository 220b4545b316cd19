/// Losses at their edges: large logits, kinks, NaN, and rows with labels of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/ops/binary_cross_entropy.h"
#include "espalier/ops/hinge.h"
#include "espalier/ops/huber.h"
#include "espalier/ops/mse.h"
#include "tests/ops/run_step.h"
#include "tests/support/numbers.h"

namespace espalier {
namespace {

using testing::kNaN;

using ops::BinaryCrossEntropy;
using ops::Hinge;
using ops::Huber;
using ops::Mse;

template <class Op>
typename StepOf<Op>::Result loss(const std::vector<float>& x, const std::vector<float>& target,
                                 const typename Op::Attrs& attrs = {}) {
  const Shape shape{static_cast<std::int64_t>(x.size())};
  return StepOf<Op>{{shape, shape}, {x, target}, attrs}.run({1.0F});
}

TEST(BinaryCrossEntropy, DoesNotOverflow) {
  const auto result = loss<BinaryCrossEntropy>({1000, -1000}, {0, 1});
  EXPECT_FLOAT_EQ(result.y[0], 1000);
  EXPECT_FLOAT_EQ(result.dx[0][0], 0.5F);
  EXPECT_FLOAT_EQ(result.dx[0][1], -0.5F);
}

TEST(BinaryCrossEntropy, KeepsThePrecisionOfSmallLosses) {
  const auto right = loss<BinaryCrossEntropy>({20}, {1});
  EXPECT_FLOAT_EQ(right.y[0], 2.0611537e-9F);
  EXPECT_FLOAT_EQ(right.dx[0][0], -2.0611537e-9F);
  const auto also_right = loss<BinaryCrossEntropy>({-20}, {0});
  EXPECT_FLOAT_EQ(also_right.y[0], 2.0611537e-9F);
  EXPECT_FLOAT_EQ(also_right.dx[0][0], 2.0611537e-9F);
}

TEST(BinaryCrossEntropy, HasTheSlopeOneHalfLessTheTargetAtZero) {
  const auto result = loss<BinaryCrossEntropy>({0}, {0.25F});
  EXPECT_FLOAT_EQ(result.dx[0][0], 0.25F);
  EXPECT_FLOAT_EQ(result.dx[1][0], 0);
}

TEST(BinaryCrossEntropy, TakesOneTargetForAllElements) {
  Graph g;
  const Expr x = g.input(Tensor({3}, {1, 2, 3}));
  const Expr y = binary_cross_entropy(x, 1);
  EXPECT_EQ(y.shape(), Shape{});
  const NodeId target = g.inputs(y.node())[1];
  EXPECT_EQ(g.type(target).shape, Shape{3});
  EXPECT_EQ(g.source(target).to_string(), g.source(y.node()).to_string());
}

TEST(BinaryCrossEntropy, TakesTheElementTypeOfXForANumber) {
  Graph g;
  const Expr x = g.input(Tensor({}, DType::kFloat64));
  EXPECT_EQ(binary_cross_entropy(x, 0.0).dtype(), DType::kFloat64);
}

TEST(Huber, IsSquaredUpToDeltaAndLinearBeyond) {
  for (float d : {-3.0F, -1.5F, -1.0F, 0.0F, 1.0F, 1.5F, 3.0F}) {
    const auto result = loss<Huber>({d}, {0}, {1.5});
    const float size = std::fabs(d);
    EXPECT_FLOAT_EQ(result.y[0], size <= 1.5F ? 0.5F * d * d : 1.5F * (size - 0.75F));
    EXPECT_FLOAT_EQ(result.dx[0][0], std::fmin(1.5F, std::fmax(-1.5F, d)));
    EXPECT_FLOAT_EQ(result.dx[1][0], -result.dx[0][0]);
  }
}

TEST(Mse, IsAMeanOverAllElements) {
  const auto result = loss<Mse>({1, 2, 3, 4}, {0, 2, 3, 7});
  EXPECT_FLOAT_EQ(result.y[0], 2.5F);
  EXPECT_EQ(result.dx[0], (std::vector<float>{0.5F, 0, 0, -1.5F}));
  EXPECT_EQ(result.dx[1], (std::vector<float>{-0.5F, 0, 0, 1.5F}));
}

TEST(Losses, LetNaNPass) {
  EXPECT_TRUE(std::isnan(loss<Mse>({1, kNaN}, {0, 0}).y[0]));
  EXPECT_TRUE(std::isnan(loss<Huber>({1, kNaN}, {0, 0}).y[0]));
  EXPECT_TRUE(std::isnan(loss<BinaryCrossEntropy>({1, kNaN}, {0, 0}).y[0]));
  EXPECT_TRUE(std::isnan(StepOf<Hinge>{{Shape{3}}, {{1, kNaN, 0}}, {}, {{0}}}.forward()[0]));
}

TEST(Hinge, TakesAnotherLabelForEveryRow) {
  const std::vector<float> scores{3, 2.5F, 0};
  std::vector<float> x;
  for (int r = 0; r < 3; ++r) x.insert(x.end(), scores.begin(), scores.end());
  const auto result = StepOf<Hinge>{{Shape{3}}, {x}, {1}, {{0}, {1}, {2}}}.run({1, 1, 2});
  EXPECT_EQ(result.y, (std::vector<float>{0.5F, 1.5F, 7.5F}));
  EXPECT_EQ(result.dx[0], (std::vector<float>{-1, 1, 0, 1, -1, 0, 2, 2, -4}));
}

TEST(Hinge, HasSlopeZeroWhereTheMarginIsJustKept) {
  const auto result = StepOf<Hinge>{{Shape{2}}, {{2, 1}}, {1}, {{0}}}.run({1});
  EXPECT_EQ(result.y[0], 0);
  EXPECT_EQ(result.dx[0], (std::vector<float>{0, 0}));
}

TEST(Hinge, OfASingleClassIsZero) {
  const auto result = StepOf<Hinge>{{Shape{1}}, {{2}}, {1}, {{0}}}.run({1});
  EXPECT_EQ(result.y[0], 0);
  EXPECT_EQ(result.dx[0], (std::vector<float>{0}));
}

TEST(Hinge, RefusesALabelOutsideAtTheUsersLine) {
  Graph g;
  const Expr x = g.input(Tensor({3}, {1, 2, 3}));
  const std::int32_t line = __LINE__ + 2;
  try {
    hinge(x, 3);
    FAIL() << "nothing was refused";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.substr(0, text.find('\n')), "hinge: label 3 is outside x (0 to 2)");
    EXPECT_NE(text.find("losses_test.cc:" + std::to_string(line)), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace espalier
