/// What maps do at their edges: NaN, infinities, zeros with their signs, kinks; and the operators that record them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/ops/abs.h"
#include "espalier/ops/add.h"
#include "espalier/ops/clamp.h"
#include "espalier/ops/div.h"
#include "espalier/ops/elu.h"
#include "espalier/ops/exp.h"
#include "espalier/ops/gelu.h"
#include "espalier/ops/leaky_relu.h"
#include "espalier/ops/log.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/negate.h"
#include "espalier/ops/one_minus.h"
#include "espalier/ops/reciprocal.h"
#include "espalier/ops/relu.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/shift.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/softplus.h"
#include "espalier/ops/sqrt.h"
#include "espalier/ops/square.h"
#include "espalier/ops/sub.h"
#include "espalier/ops/tanh.h"
#include "tests/ops/run_step.h"
#include "tests/support/numbers.h"

namespace espalier {
namespace {

using testing::kInf;
using testing::kNaN;

template <class Op>
StepOf<Op> on(const std::vector<float>& x, const typename Op::Attrs& attrs = {}) {
  return {{Shape{static_cast<std::int64_t>(x.size())}}, {x}, attrs, {{}}};
}

/// The slopes at x.
template <class Op>
std::vector<float> slopes(const std::vector<float>& x, const typename Op::Attrs& attrs = {}) {
  return on<Op>(x, attrs).run(std::vector<float>(x.size(), 1.0F)).dx[0];
}

/// More than one vector of any target, and a rest: the value of the plain code everywhere, bit for bit where exact.
template <class Op>
void expect_same_as_plain(const typename Op::Attrs& attrs, const std::vector<float>& points) {
  std::vector<float> x;
  while (x.size() < 37) x.insert(x.end(), points.begin(), points.end());
  const auto result = on<Op>(x, attrs).run(std::vector<float>(x.size(), 1.0F));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float expected = Op::template value<float>(attrs, {}, x[i]);
    EXPECT_EQ(std::isnan(result.y[i]), std::isnan(expected)) << Op::kName << " of " << x[i];
    if (std::isnan(expected)) continue;
    if (std::isinf(expected)) {
      EXPECT_EQ(result.y[i], expected) << Op::kName << " of " << x[i];
    } else {
      EXPECT_NEAR(result.y[i], expected, 1e-6F * std::fabs(expected)) << Op::kName << " of " << x[i];
    }
    if (expected == 0) {
      EXPECT_EQ(std::signbit(result.y[i]), std::signbit(expected)) << Op::kName << " of " << x[i];
    }

    ad::Tape::local().clear();
    const ad::Var variable = ad::Var::independent(double{x[i]});
    const ad::Var y = Op::template value<ad::Var>(attrs, {}, variable);
    std::vector<double> grad(ad::Tape::local().size());
    if (y.entry >= 0) grad[static_cast<std::size_t>(y.entry)] = 1;
    ad::Tape::local().propagate(grad);
    const double slope = grad[static_cast<std::size_t>(variable.entry)];
    EXPECT_EQ(std::isnan(result.dx[0][i]), std::isnan(slope)) << "slope of " << Op::kName << " at " << x[i];
    if (std::isnan(slope)) continue;
    if (std::isinf(slope)) {
      EXPECT_EQ(double{result.dx[0][i]}, slope) << "slope of " << Op::kName << " at " << x[i];
    } else {
      EXPECT_NEAR(double{result.dx[0][i]}, slope, 1e-6 * std::max(1.0, std::fabs(slope)))
          << "slope of " << Op::kName << " at " << x[i];
    }
  }
}

const std::vector<float> kEdges{0.0F, -0.0F, 1.0F, -1.0F, kInf, -kInf, kNaN, 20.0F, -20.0F, 1e-10F, -1e-10F};
const std::vector<float> kFinite{0.0F, -0.0F, 1.0F, -1.0F, kNaN, 20.0F, -20.0F, 1e-10F, -1e-10F, 90.0F, -90.0F};

TEST(Maps, GiveThePlainCodesResultsAtTheEdges) {
  expect_same_as_plain<ops::Abs>({}, kEdges);
  expect_same_as_plain<ops::Clamp>({-1, 1}, kEdges);
  expect_same_as_plain<ops::Clamp>({0, std::numeric_limits<double>::infinity()}, kEdges);
  expect_same_as_plain<ops::Elu>({2}, kEdges);
  expect_same_as_plain<ops::Exp>({}, kEdges);
  expect_same_as_plain<ops::Gelu>({}, kFinite);
  expect_same_as_plain<ops::LeakyRelu>({0.25}, kEdges);
  expect_same_as_plain<ops::Log>({}, kEdges);
  expect_same_as_plain<ops::Negate>({}, kEdges);
  expect_same_as_plain<ops::OneMinus>({}, kEdges);
  expect_same_as_plain<ops::Reciprocal>({}, {kInf, kNaN, 3.0F, -20.0F, 1e10F, -1e-10F});
  expect_same_as_plain<ops::Relu>({}, kEdges);
  expect_same_as_plain<ops::Shift>({}, kEdges);
  expect_same_as_plain<ops::Sigmoid>({}, {kInf, kNaN, 0.0F, -0.0F, 20.0F, -20.0F, 1e-10F, 90.0F, -80.0F});
  expect_same_as_plain<ops::Softplus>({}, kFinite);
  expect_same_as_plain<ops::Sqrt>({}, {kInf, kNaN, 0.0F, 4.0F, 1e-10F, -1.0F});
  expect_same_as_plain<ops::Square>({}, kEdges);
}

TEST(Maps, OfTheLogisticKindSaturateAtTheInfinities) {
  EXPECT_EQ(on<ops::Sigmoid>({kInf, -kInf}).forward(), (std::vector<float>{1, 0}));
  EXPECT_EQ(slopes<ops::Sigmoid>({kInf, -kInf}), (std::vector<float>{0, 0}));
  EXPECT_EQ(on<ops::Softplus>({kInf, -kInf}).forward(), (std::vector<float>{kInf, 0}));
  EXPECT_EQ(slopes<ops::Softplus>({kInf, -kInf}), (std::vector<float>{1, 0}));
}

TEST(Relu, HasSlopeZeroAtZero) { EXPECT_EQ(slopes<ops::Relu>({-1, -0.0F, 0, 1}), (std::vector<float>{0, 0, 0, 1})); }

TEST(Relu, LetsNaNPass) { EXPECT_TRUE(std::isnan(on<ops::Relu>({1, kNaN}).forward()[1])); }

TEST(Abs, HasSlopeZeroAtZero) { EXPECT_EQ(slopes<ops::Abs>({-3, -0.0F, 0, 2}), (std::vector<float>{-1, 0, 0, 1})); }

TEST(Clamp, HasSlopeOneAtItsBounds) {
  EXPECT_EQ(slopes<ops::Clamp>({-2, -1, 0, 1, 2}, {-1, 1}), (std::vector<float>{0, 1, 1, 1, 0}));
}

TEST(Clamp, LetsNaNPass) { EXPECT_TRUE(std::isnan(on<ops::Clamp>({kNaN}, {-1, 1}).forward()[0])); }

TEST(LeakyRelu, HasItsSlopeAtZero) {
  EXPECT_EQ(slopes<ops::LeakyRelu>({-2, 0, 2}, {0.25}), (std::vector<float>{0.25F, 0.25F, 1}));
}

TEST(Sqrt, HasInfiniteSlopeAtZero) { EXPECT_EQ(slopes<ops::Sqrt>({0})[0], kInf); }

TEST(Div, ByZeroIsInfiniteOrNaN) {
  const StepOf<ops::Div> step{{Shape{3}, Shape{3}}, {{1, -1, 0}, {0, 0, 0}}, {}, {{}}};
  const std::vector<float> y = step.forward();
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[1], -kInf);
  EXPECT_TRUE(std::isnan(y[2]));
}

TEST(Shift, TakesAnotherConstantForEveryRow) {
  const StepOf<ops::Shift> step{{Shape{2}}, {{1, 2, 3, 4, 5, 6}}, {}, {{10}, {20}, {-1}}};
  EXPECT_EQ(step.forward(), (std::vector<float>{11, 12, 23, 24, 4, 5}));
}

/// The name and the inputs of a node, as text.
std::string recorded(const Expr& y) { return y.graph().describe(y.node()); }

TEST(Operators, RecordTheirOps) {
  Graph g;
  const Expr a = g.input(Tensor({2}, {1, 2}));
  const Expr b = g.input(Tensor({2}, {3, 4}));
  EXPECT_EQ(recorded(a + b), "node 2 = add(node 0, node 1)");
  EXPECT_EQ(recorded(a - b), "node 3 = sub(node 0, node 1)");
  EXPECT_EQ(recorded(a * b), "node 4 = mul(node 0, node 1)");
  EXPECT_EQ(recorded(a / b), "node 5 = div(node 0, node 1)");
  EXPECT_EQ(recorded(-a), "node 6 = negate(node 0)");
  EXPECT_EQ(recorded(a + 2), "node 7 = shift(node 0)");
  EXPECT_EQ(recorded(2 + a), "node 8 = shift(node 0)");
  EXPECT_EQ(recorded(a - 2), "node 9 = shift(node 0)");
  EXPECT_EQ(recorded(1 - a), "node 10 = one_minus(node 0)");
  EXPECT_EQ(recorded(a / 2), "node 11 = scale(node 0)");
  EXPECT_EQ(recorded(1 / a), "node 12 = reciprocal(node 0)");
}

TEST(Operators, MakeOtherConstantsOfTwoNodes) {
  Graph g;
  const Expr a = g.input(Tensor({2}, {1, 2}));
  EXPECT_EQ(recorded(3 - a), "node 2 = shift(node 1)");
  EXPECT_EQ(recorded(a.graph().expr(NodeId{1})), "node 1 = negate(node 0)");
  EXPECT_EQ(recorded(3 / a), "node 4 = scale(node 3)");
  EXPECT_EQ(recorded(a.graph().expr(NodeId{3})), "node 3 = reciprocal(node 0)");
}

TEST(Operators, TakeZeroAsANumber) {
  Graph g;
  const Expr a = g.input(Tensor({2}, {1, 2}));
  EXPECT_EQ(recorded(a + 0), "node 1 = shift(node 0)");
  EXPECT_EQ(recorded(0 - a), "node 3 = shift(node 2)");
  EXPECT_EQ(recorded(0 * a), "node 4 = scale(node 0)");
}

TEST(Operators, BroadcastAnOperandOfRankZero) {
  Graph g;
  const Expr scalar = g.constant(2);
  const Expr a = g.input(Tensor({2}, {1, 2}));
  EXPECT_EQ(recorded(scalar / a), "node 3 = div(node 2, node 1)");
  EXPECT_EQ(recorded(a - scalar), "node 5 = sub(node 1, node 4)");
  EXPECT_EQ((scalar + scalar).shape(), Shape{});
}

TEST(Operators, NameTheUsersLine) {
  Graph g;
  const Expr a = g.input(Tensor({2}, {1, 2}));
  const std::int32_t line = __LINE__ + 1;
  const Expr y = 3 - a;
  for (const NodeId node : {y.node(), g.inputs(y.node())[0]}) {
    EXPECT_EQ(g.source(node).to_string(), "maps_test.cc:" + std::to_string(line));
  }
}

TEST(Clamp, RefusesBoundsInTheWrongOrderAtTheUsersLine) {
  Graph g;
  const Expr a = g.input(Tensor({2}, {1, 2}));
  const std::int32_t line = __LINE__ + 2;
  try {
    clamp(a, 1, 0.5);
    FAIL() << "nothing was refused";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.substr(0, text.find('\n')), "clamp: low (1) must not be above high (0.5)");
    EXPECT_NE(text.find("maps_test.cc:" + std::to_string(line)), std::string::npos) << text;
  }
  EXPECT_EQ(g.size(), 1);
}

}  // namespace
}  // namespace espalier
