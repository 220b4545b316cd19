/// Uses of a cell like earlier ones, which are recorded by a shorter way, and backward passes that overwrite what they
/// read: neither may be noticed.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"

namespace espalier {
namespace {

class RepeatedUse : public testing::SmallModel {
 protected:
  const Cell<Expr(Expr, Expr)> step_{"step", [this](Expr x, Expr y) { return tanh(affine(x * y, W, b)) + y; }};

  static Expr input(Graph& graph, int number) {
    Tensor values({kWidth});
    for (std::int64_t i = 0; i < kWidth; ++i) values.set(i, static_cast<double>((number * 5 + i * 3) % 7) / 4 - 0.8);
    return graph.input(values);
  }
};

TEST_F(RepeatedUse, HasTheSignatureAndTheParametersOfTheFirst) {
  Graph graph;
  graph.begin_instance();
  const Expr x = input(graph, 1);
  const Expr first = step_(x, x);
  graph.begin_instance();
  const Expr y = input(graph, 2);
  const Expr again = step_(y, x);
  EXPECT_EQ(graph.signature_id(again.node()), graph.signature_id(first.node()));
  const std::span<const NodeId> inputs = graph.inputs(again.node());
  ASSERT_EQ(inputs.size(), 4U);
  EXPECT_EQ(inputs[0], y.node());
  EXPECT_EQ(inputs[1], x.node());
  EXPECT_EQ(inputs[2], graph.inputs(first.node())[2]);
  EXPECT_EQ(inputs[3], graph.inputs(first.node())[3]);
  EXPECT_EQ(graph.instance(again.node()), kJoint);
  EXPECT_EQ(graph.instance(step_(y, y).node()), graph.instance(y.node()));
}

TEST_F(RepeatedUse, RemembersTheLineOfItsOwn) {
  Graph graph;
  const Expr x = input(graph, 1);
  const Expr first = step_(x, x);
  const Expr again = step_(x, first);
  EXPECT_EQ(graph.source(again.node()).line(), graph.source(first.node()).line() + 1);
}

TEST_F(RepeatedUse, KnowsInputsOfOtherTypesApart) {
  const auto square_of = cell("square", [](Expr x) { return x * x; });
  Graph graph;
  for (int round = 0; round < 3; ++round)
    for (std::int64_t width : {2, 3, 5}) {
      const Expr y = square_of(graph.constant(Shape{width}, 3));
      EXPECT_EQ(y.shape(), Shape{width});
      EXPECT_EQ(y.value().at(width - 1), 9);
    }
}

TEST_F(RepeatedUse, KnowsSharedInputsApart) {
  Graph graph;
  const Expr x = input(graph, 1);
  const Expr stacked = step_(x, x);
  const Expr with_parameter = step_(x, b);
  const Expr with_shared = step_(x, graph.parameter(b));
  EXPECT_EQ(with_parameter.value(), with_shared.value());
  EXPECT_NE(with_parameter.value(), stacked.value());
  EXPECT_EQ(step_(x, x).value(), stacked.value());
}

TEST_F(RepeatedUse, OutlivesNoClearedGraph) {
  Graph graph;
  const Tensor expected = step_(input(graph, 1), input(graph, 2)).value();
  for (int round = 0; round < 3; ++round) {
    graph.clear();
    // Other nodes than before come first: those that were known have other numbers now.
    for (int i = 0; i < round; ++i) tanh(input(graph, i));
    EXPECT_EQ(step_(input(graph, 1), input(graph, 2)).value(), expected);
    EXPECT_EQ(step_(input(graph, 1), input(graph, 2)).value(), expected);
  }
}

TEST_F(RepeatedUse, OutlivesNoNodesThatWereTakenBack) {
  Graph graph;
  const Expr x = input(graph, 1);
  const Expr narrow = graph.constant(Shape{2}, 1);
  const Tensor expected = step_(x, x).value();
  const auto fails = cell("fails", [&](Expr y) { return linear(step_(y, y), V) + narrow; });
  EXPECT_THROW(fails(x), UsageError);
  EXPECT_THROW(x + narrow, UsageError);
  EXPECT_EQ(step_(x, x).value(), expected);
}

TEST_F(RepeatedUse, OfTwoGraphsInTurns) {
  Graph one;
  Graph other;
  input(other, 7);
  for (int round = 0; round < 3; ++round) {
    const Expr a = input(one, round);
    const Expr b_of_other = input(other, round);
    EXPECT_EQ(step_(a, a).value(), step_(b_of_other, b_of_other).value());
    EXPECT_THROW(step_(a, b_of_other), UsageError);
  }
}

TEST_F(RepeatedUse, StaleExprsAreRefused) {
  Graph graph;
  const Expr old = input(graph, 1);
  step_(old, old);
  graph.clear();
  const Expr x = input(graph, 1);
  step_(x, x);
  EXPECT_THROW(step_(x, old), UsageError);
  EXPECT_THROW(step_(old, x), UsageError);
}

TEST_F(RepeatedUse, LeavesOfManySizesHaveTheirOwnShapes) {
  Graph graph;
  std::vector<Expr> leaves;
  const std::array<Shape, 6> shapes{Shape{}, {1}, {1, 1}, {8}, {16}, {2, 8}};
  for (int round = 0; round < 3; ++round)
    for (const Shape& shape : shapes) leaves.push_back(graph.constant(shape, static_cast<double>(leaves.size())));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_EQ(leaves[i].shape(), shapes[i % shapes.size()]);
    EXPECT_EQ(leaves[i].value().at(0), static_cast<double>(i));
  }
}

/// Gradients of all parameters, one after the other.
std::vector<double> gradients_of(Model& model) {
  std::vector<double> all;
  for (const Gradient* gradient : model.gradients().all()) {
    const Tensor tensor = gradient->to_tensor();
    for (std::int64_t i = 0; i < tensor.elements(); ++i) all.push_back(tensor.at(i));
  }
  return all;
}

/// A sentence by an LSTM, as one number.
Expr loss_of(Graph& graph, const nn::LstmCell& cell, const Parameter& table) {
  nn::LstmState state = cell.initial(graph);
  std::vector<Expr> outputs;
  for (std::int32_t t = 0; t < 4; ++t) {
    state = cell(lookup(graph, table, t), state);
    outputs.push_back(dot(state.h, state.h));
  }
  return sum(outputs);
}

class SecondBackward : public testing::SmallModel {
 protected:
  const nn::LstmCell cell_{model / "lstm", kWidth, 24};
};

TEST_F(SecondBackward, AddsTheSameOnceMore) {
  Graph graph;
  const Expr loss = loss_of(graph, cell_, table);
  loss.backward();
  const std::vector<double> once = gradients_of(model);
  const Tensor value = loss.value();
  loss.backward();
  const std::vector<double> twice = gradients_of(model);
  ASSERT_EQ(once.size(), twice.size());
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(twice[i]), static_cast<float>(2 * once[i]));
  EXPECT_EQ(loss.value(), value);
}

TEST_F(SecondBackward, OfAnotherLossOverTheSameNodes) {
  Graph graph;
  graph.begin_instance();
  const Expr one = loss_of(graph, cell_, table);
  one.backward();
  model.gradients().clear();
  const Expr other = one * one;
  other.backward();
  const std::vector<double> late = gradients_of(model);

  model.gradients().clear();
  Graph fresh;
  fresh.begin_instance();
  const Expr alone = loss_of(fresh, cell_, table);
  (alone * alone).backward();
  const std::vector<double> expected = gradients_of(model);
  ASSERT_EQ(late.size(), expected.size());
  for (std::size_t i = 0; i < late.size(); ++i) EXPECT_NEAR(late[i], expected[i], 1e-5 * (1 + std::abs(expected[i])));
}

TEST_F(SecondBackward, AfterAnUpdateIsRefusedAndLosesNothing) {
  Graph graph;
  const Expr loss = loss_of(graph, cell_, table);
  graph.keep(loss);
  loss.backward();
  const Tensor value = loss.value();
  table.mutable_value();
  EXPECT_THROW(loss.backward(), UsageError);
  EXPECT_EQ(loss.value(), value);
}

}  // namespace
}  // namespace espalier
