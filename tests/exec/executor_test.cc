/// The reference executor: what is computed when, where gradients go, and what is refused, to the letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/optim/sgd.h"
#include "tests/exec/floats.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::here;
using ::testing::IsEmpty;
using testing::refusal_of;

/// The identity, which counts how often it is computed and can be made to throw.
struct Counted {
  static constexpr std::string_view kName = "test_counted";
  static constexpr std::string_view kContract = "y = x";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = ops::None;
  using Fields = ops::None;

  static inline int runs = 0;
  static inline bool throws = false;

  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    if (throws) throw std::runtime_error("counted: not today");
    ++runs;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][i];
  }
  static Samples samples() { return {works_on<Counted>({{3}})}; }
  static Refusals refusals() { return {}; }
};

Expr counted(Operand x) {
  register_op<Counted>();
  return ops::record<Counted>({x});
}

class Executor : public ::testing::Test {
 protected:
  void SetUp() override {
    Counted::runs = 0;
    Counted::throws = false;
  }

  Model model;
  Parameter& W = model.add("W", {2, 2}, init::from_tensor(Tensor({2, 2}, {1, 2, 3, 4})));
  Parameter& table = model.add("table", {3, 2}, init::from_tensor(Tensor({3, 2}, {1, 2, 3, 4, 5, 6})));
  Parameter& w = model.add("w", {}, init::constant(2));
};

// --- values ----------------------------------------------------------------------------------------------------------

TEST_F(Executor, RecordingGoesOnAfterAValue) {
  Graph graph;
  const Expr x = linear(graph.input(Tensor({2}, {1, 1})), W);
  EXPECT_THAT(floats(x.value()), ElementsAre(4, 6));
  const Expr y = x * w;
  EXPECT_THAT(floats(y.value()), ElementsAre(8, 12));
  const Expr loss = sum(square(y), 0);
  EXPECT_EQ(loss.scalar(), 208);
  loss.backward();
  EXPECT_EQ(model.gradients().find(w)->dense.item(), 2 * 2 * (16 + 36));
  EXPECT_THAT(floats(x.value()), ElementsAre(4, 6));
}

TEST_F(Executor, ComputesANodeOnce) {
  Graph graph;
  const Expr x = counted(graph.input(Tensor({2}, {1, 2})));
  EXPECT_EQ(Counted::runs, 0);
  x.value();
  EXPECT_EQ(Counted::runs, 1);
  x.value();
  (x + x).value();
  sum(x * x, 0).value();
  EXPECT_EQ(Counted::runs, 1);
}

TEST_F(Executor, ComputesOnlyWhatIsNeeded) {
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  counted(x);
  const Expr needed = counted(x);
  tanh(needed).value();
  EXPECT_EQ(Counted::runs, 1);
}

TEST_F(Executor, GivesTheValueOfLeaves) {
  Graph graph;
  EXPECT_EQ(graph.input(Tensor({2}, {1, 2})).value(), Tensor({2}, {1, 2}));
  EXPECT_EQ(graph.parameter(W).value(), W.value());
  EXPECT_EQ(graph.constant(7).scalar(), 7);
  EXPECT_EQ(graph.constant({2, 2}, 0.5).value(), Tensor({2, 2}, {0.5F, 0.5F, 0.5F, 0.5F}));
}

TEST_F(Executor, LeavesWithoutElementsHaveAValue) {
  Graph graph;
  EXPECT_EQ(graph.input(Tensor(Shape{0})).value().elements(), 0);
  EXPECT_EQ(tanh(graph.input(Tensor(Shape{0}))).value().elements(), 0);
}

TEST_F(Executor, ComputesFloat64ByThePlainCode) {
  model.to(DType::kFloat64);
  Graph graph({.dtype = DType::kFloat64});
  const Expr x = graph.input({2}, std::array{1.0F, 1.0F});
  const Expr loss = sum(linear(x, W) / 3, 0);
  EXPECT_EQ(loss.dtype(), DType::kFloat64);
  EXPECT_NEAR(loss.scalar(), 10.0 / 3, 1e-15);
  loss.backward({.into = nullptr, .wanted = {x}});
  EXPECT_EQ(model.gradients().find(W)->dense.dtype(), DType::kFloat64);
  EXPECT_NEAR(model.gradients().find(W)->dense.at(3), 1.0 / 3, 1e-16);
  EXPECT_NEAR(x.grad().at(1), 7.0 / 3, 1e-15);
}

TEST_F(Executor, AnEmptyGraphIsPrintedAndCleared) {
  Graph graph;
  EXPECT_EQ(graph.list_nodes(), "graph of 0 nodes, 0 signatures, 0 instances\n");
  EXPECT_EQ(graph.explain(), "graph of 0 nodes, 0 instances; nothing was computed yet\n");
  graph.clear();
  EXPECT_EQ(graph.size(), 0);
}

TEST_F(Executor, AClearedGraphIsUsedAgain) {
  Graph graph;
  for (int round = 0; round < 3; ++round) {
    graph.clear();
    const Expr x = counted(graph.input(Tensor({2}, {static_cast<float>(round), 1})));
    const Expr loss = sum(linear(x, W), 0);
    EXPECT_EQ(loss.scalar(), 3 * round + 7);
    loss.backward({.into = nullptr, .wanted = {x}});
    EXPECT_THAT(floats(x.grad()), ElementsAre(3, 7));
  }
  EXPECT_THAT(floats(model.gradients().find(W)->dense), ElementsAre(3, 3, 3, 3));
}

TEST_F(Executor, RestoresTheDenormalsOfTheCaller) {
  for (const bool flush : {false, true}) {
    const FlushDenormals outer(flush);
    Graph graph;
    const Expr loss = sum(counted(graph.input(Tensor({2}, {1, 2}))) * w, 0);
    loss.value();
    EXPECT_EQ(FlushDenormals::active(), flush);
    loss.backward();
    EXPECT_EQ(FlushDenormals::active(), flush);
    Counted::throws = true;
    EXPECT_THROW(counted(loss).value(), std::runtime_error);
    Counted::throws = false;
    EXPECT_EQ(FlushDenormals::active(), flush);
  }
}

TEST_F(Executor, FlushesDenormalsWhileItComputes) {
  const FlushDenormals off(false);
  Graph graph;
  EXPECT_EQ((graph.constant(1e-30) * 1e-10).scalar(), 0);
}

TEST_F(Executor, ARunThatThrowsCanBeTriedAgainOrCleared) {
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  const Expr y = tanh(counted(square(x)));
  Counted::throws = true;
  EXPECT_THROW(y.value(), std::runtime_error);
  EXPECT_THROW(sum(y * w, 0).backward(), std::runtime_error);
  EXPECT_TRUE(model.gradients().empty());
  EXPECT_THAT(floats(square(x).value()), ElementsAre(1, 4));
  Counted::throws = false;
  EXPECT_NEAR(y.value().at(0), 0.7615942, 1e-6);
  Counted::throws = true;
  EXPECT_THROW(counted(y).value(), std::runtime_error);
  graph.clear();
  EXPECT_THAT(floats(square(graph.input(Tensor({1}, {3}))).value()), ElementsAre(9));
}

// --- gradients -------------------------------------------------------------------------------------------------------

TEST_F(Executor, GivesTheGradientsOfWantedNodes) {
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  const Expr middle = square(x);
  const Expr unused = tanh(x);
  sum(middle * 3, 0).backward({.into = nullptr, .wanted = {x, middle, unused}});
  EXPECT_THAT(floats(x.grad()), ElementsAre(6, 12));
  EXPECT_THAT(floats(middle.grad()), ElementsAre(3, 3));
  EXPECT_THAT(floats(unused.grad()), ElementsAre(0, 0));
  sum(x, 0).backward({.into = nullptr, .wanted = {x}});
  EXPECT_THAT(floats(x.grad()), ElementsAre(1, 1));
}

TEST_F(Executor, GivesTheGradientOfTheLossItself) {
  Graph graph;
  const Expr loss = graph.constant(3);
  loss.backward({.into = nullptr, .wanted = {loss}});
  EXPECT_EQ(loss.grad().item(), 1);
}

TEST_F(Executor, AWantedParameterHasTheGradientOfTheLastPassAlone) {
  Graph graph;
  const Expr node = graph.parameter(W);
  const Expr row = lookup(graph.parameter(table), 1);
  const Expr loss = sum(linear(row, node), 0);
  for (int round = 1; round <= 2; ++round) {
    loss.backward({.into = nullptr, .wanted = {node, graph.parameter(table), node}});
    EXPECT_THAT(floats(node.grad()), ElementsAre(3, 3, 4, 4));
    EXPECT_THAT(floats(graph.parameter(table).grad()), ElementsAre(0, 0, 3, 7, 0, 0));
    EXPECT_EQ(model.gradients().find(W)->dense.at(2), 4.0 * round);
    EXPECT_EQ(model.gradients().find(table)->to_tensor().at(3), 7.0 * round);
  }
}

TEST_F(Executor, AParameterMayBeTheLoss) {
  Graph graph;
  graph.parameter(w).backward();
  graph.parameter(w).backward();
  EXPECT_EQ(model.gradients().find(w)->dense.item(), 2);
}

TEST_F(Executor, RefusesGradNobodyAskedFor) {
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  const Expr y = square(x);
  const std::string hint = "\n  hint: loss.backward({.wanted = {x}})";
  EXPECT_EQ(refusal_of([&] { y.grad(); }), "grad: the gradient of node 1 = square(node 0) was not asked for" + hint);
  sum(y, 0).backward({.into = nullptr, .wanted = {x}});
  EXPECT_EQ(refusal_of([&] { y.grad(); }), "grad: the gradient of node 1 = square(node 0) was not asked for" + hint);
  EXPECT_EQ(refusal_of([&] { graph.parameter(W).grad(); }),
            "grad: the gradient of parameter \"W\" was not asked for" + hint);
}

TEST_F(Executor, RefusesALossOfMoreThanOneElement) {
  Graph graph;
  const int line = __LINE__ + 1;
  const Expr y = linear(graph.input(Tensor({2}, {1, 1})), W);
  EXPECT_EQ(refusal_of([&] { y.backward(); }),
            "backward: the loss must have one element, and float32[2] has 2\n  node 2 = linear(node 0, \"W\")  " +
                here(line));
  EXPECT_TRUE(model.gradients().empty());
}

TEST_F(Executor, RefusesAWantedNodeOfAnotherGraph) {
  Graph graph;
  Graph other;
  EXPECT_EQ(refusal_of([&] { graph.constant(1).backward({.into = nullptr, .wanted = {other.constant(1)}}); }),
            "backward: a wanted Expr belongs to another graph");
}

TEST_F(Executor, AFrozenParameterGetsNoGradient) {
  model.freeze("W");
  model.freeze("table");
  Graph graph;
  const Expr x = lookup(graph, table, 2);
  sum(linear(x, W) * w, 0).backward({.into = nullptr, .wanted = {x}});
  EXPECT_EQ(model.gradients().find(W), nullptr);
  EXPECT_EQ(model.gradients().find(table), nullptr);
  EXPECT_EQ(model.gradients().find(w)->dense.item(), 5 + 18 + 10 + 24);
  EXPECT_THAT(floats(x.grad()), ElementsAre(6, 14));  // what is behind it still does
}

TEST_F(Executor, AFrozenParameterMayBeWanted) {
  model.freeze("w");
  Graph graph;
  const Expr node = graph.parameter(w);
  square(node).backward({.into = nullptr, .wanted = {node}});
  EXPECT_EQ(node.grad().item(), 4);
  EXPECT_TRUE(model.gradients().empty());
}

TEST_F(Executor, AParameterOfNoModelNeedsAPlaceForItsGradient) {
  const Parameter alone("alone", Tensor({2}, {1, 2}));
  Graph graph;
  const Expr loss = sum(graph.input(Tensor({2}, {3, 4})) * alone, 0);
  EXPECT_EQ(loss.scalar(), 11);
  EXPECT_EQ(refusal_of([&] { loss.backward(); }),
            "backward: parameter \"alone\" belongs to no Model; give a Gradients object for its gradient");
  Gradients gradients;
  loss.backward({.into = &gradients, .wanted = {}});
  EXPECT_THAT(floats(gradients.find(alone)->dense), ElementsAre(3, 4));
}

TEST_F(Executor, GradientsOfTheCallerLeaveThoseOfTheModelAlone) {
  Graph graph;
  Gradients mine;
  sum(linear(lookup(graph, table, 0), W), 0).backward({.into = &mine, .wanted = {}});
  EXPECT_TRUE(model.gradients().empty());
  EXPECT_THAT(floats(mine.find(W)->dense), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(mine.find(table)->rows, ElementsAre(0));
}

TEST_F(Executor, RepeatedBackwardAddsUp) {
  Graph graph;
  const Expr loss = sum(linear(lookup(graph, table, 2), W), 0);
  for (int round = 1; round <= 3; ++round) {
    loss.backward();
    EXPECT_EQ(model.gradients().find(W)->dense.at(0), 5.0 * round);
    EXPECT_THAT(model.gradients().find(table)->rows, ElementsAre(2));
    EXPECT_EQ(model.gradients().find(table)->row_values.at(1), 7.0 * round);
  }
}

TEST_F(Executor, LookupsGiveSortedDistinctRows) {
  Graph graph;
  const Expr last = lookup(graph, table, 2);
  sum(sum({last, lookup(graph, table, 0), lookup(graph, table, 2), last}), 0).backward();
  const Gradient* gradient = model.gradients().find(table);
  EXPECT_TRUE(gradient->sparse);
  EXPECT_THAT(gradient->rows, ElementsAre(0, 2));
  EXPECT_THAT(floats(gradient->row_values), ElementsAre(1, 1, 3, 3));
}

TEST_F(Executor, ATableMayBeUsedByRowsAndAsAWhole) {
  Graph graph;
  const Expr row = lookup(graph, table, 1);
  const Expr scores = matvec(table, row);  // [3]
  sum(scores, 0).backward();
  const Gradient* gradient = model.gradients().find(table);
  EXPECT_FALSE(gradient->sparse);
  EXPECT_THAT(gradient->rows, IsEmpty());
  EXPECT_THAT(floats(gradient->dense), ElementsAre(3, 4, 3 + 9, 4 + 12, 3, 4));
}

TEST_F(Executor, OneNodeMayBeSeveralOperands) {
  for (const Execution execution : {Execution::kKernels, Execution::kPlain}) {
    Graph graph({.execution = execution});
    const Expr x = graph.input(Tensor({2}, {3, -1}));
    const Expr y = graph.input(Tensor({2}, {1, 1}));
    const auto gradient_of = [&](const Expr& result) {
      sum_elements(result).backward({.into = nullptr, .wanted = {x}});
      return floats(x.grad());
    };
    EXPECT_THAT(gradient_of(mul(x, x)), ElementsAre(6, -2));
    EXPECT_THAT(gradient_of(sub(x, x)), ElementsAre(0, 0));
    EXPECT_THAT(gradient_of(sum({x, x, y})), ElementsAre(2, 2));
    EXPECT_THAT(gradient_of(sum({y, x, x})), ElementsAre(2, 2));
    EXPECT_THAT(gradient_of(mean({x, y, x, x})), ElementsAre(0.75F, 0.75F));
    EXPECT_THAT(gradient_of(max({x, y, x})), ElementsAre(1, 0));
    EXPECT_THAT(gradient_of(concat({x, y, x})), ElementsAre(2, 2));
    EXPECT_THAT(gradient_of(stack({x, x})), ElementsAre(2, 2));
    EXPECT_THAT(gradient_of(dot(x, x)), ElementsAre(6, -2));
    EXPECT_THAT(gradient_of(affine(x, W, x)), ElementsAre(4, 8));
    EXPECT_THAT(gradient_of(mse(x, x)), ElementsAre(0, 0));
  }
}

TEST_F(Executor, OperandsOfASumThatNeedNoGradientAreLeftOut) {
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  const Expr constant = graph.input(Tensor({2}, {5, 5}));
  const Expr total = sum({constant, x, constant, x * w, constant});
  sum(total, 0).backward({.into = nullptr, .wanted = {x}});
  EXPECT_THAT(floats(x.grad()), ElementsAre(3, 3));
  EXPECT_EQ(model.gradients().find(w)->dense.item(), 3);
}

// --- parameters that change ------------------------------------------------------------------------------------------

const char* const kChanged =
    "run: parameter \"W\" was changed after this graph recorded it\n"
    "  hint: ask for values and gradients before optimizer.step(), or record a new graph after it";

class ExecutorAfterAStep : public Executor {
 protected:
  ExecutorAfterAStep() {
    model.freeze("w");
    model.freeze("table");
    graph.keep(computed);
    loss.backward();
    sgd.step();
  }

  optim::Sgd sgd{model, {.learning_rate = 1}};
  Graph graph;
  Expr x = graph.input(Tensor({2}, {1, 1}));
  Expr computed = linear(x, W);
  Expr loss = sum(computed, 0);
  Expr uncomputed = linear(square(x), W);
};

TEST_F(ExecutorAfterAStep, ComputedValuesAreStillThere) {
  EXPECT_THAT(floats(computed.value()), ElementsAre(4, 6));
  EXPECT_EQ(loss.scalar(), 10);
  EXPECT_THAT(floats(W.value()), ElementsAre(0, 1, 2, 3));
}

TEST_F(ExecutorAfterAStep, AValueThatBackwardFreedIsRefusedWithAHint) {
  Graph other;
  const Expr freed = linear(other.input(Tensor({2}, {1, 1})), W);
  sum(freed, 0).backward();
  sgd.step();
  EXPECT_EQ(refusal_of([&] { freed.value(); }),
            "run: parameter \"W\" was changed after this graph recorded it\n"
            "  hint: backward() or finish() freed this value; graph.keep(x) before it makes it stay");
}

TEST_F(ExecutorAfterAStep, WhatIsNotComputedIsRefused) {
  EXPECT_EQ(refusal_of([&] { uncomputed.value(); }), kChanged);
  EXPECT_EQ(refusal_of([&] { uncomputed.value(); }), kChanged);
}

TEST_F(ExecutorAfterAStep, AGraphThatComputedNothingMayTakeTheNewNumbers) {
  Graph other;
  const Expr y = linear(other.input(Tensor({2}, {1, 1})), W);
  W.mutable_value().as<float>()[0] += 8;
  EXPECT_EQ(refusal_of([&] { y.value(); }), kChanged);
  other.use_current_parameters();
  EXPECT_THAT(floats(y.value()), ElementsAre(10, 4));
  W.mutable_value().as<float>()[0] += 8;
  EXPECT_EQ(refusal_of([&] { other.use_current_parameters(); }),
            "use_current_parameters: values of this graph were computed already\n"
            "  hint: call it before the first value(), backward() or finish()");
  EXPECT_THAT(floats(y.value()), ElementsAre(10, 4));
  other.clear();
  const Expr again = linear(other.input(Tensor({2}, {1, 1})), W);
  W.mutable_value().as<float>()[0] += 8;
  other.use_current_parameters();
  EXPECT_THAT(floats(again.value()), ElementsAre(26, 4));
}

TEST_F(ExecutorAfterAStep, NewNumbersOfAnotherTypeAreNotTaken) {
  Graph other;
  const Expr y = linear(other.input(Tensor({2}, {1, 1})), W);
  W.replace_value(Tensor(W.shape(), DType::kFloat64));
  other.use_current_parameters();
  EXPECT_EQ(refusal_of([&] { y.value(); }), kChanged);
}

TEST_F(ExecutorAfterAStep, BackwardIsRefused) {
  EXPECT_EQ(refusal_of([&] { loss.backward(); }), kChanged);
  EXPECT_TRUE(model.gradients().empty());
}

TEST_F(ExecutorAfterAStep, GoingOnFromComputedValuesIsRefused) {
  EXPECT_EQ(refusal_of([&] { tanh(computed).value(); }), kChanged);
  // V is recorded only now: it is new, and what it would be combined with is old.
  Parameter& V = model.add("V", {2}, init::constant(1));
  EXPECT_EQ(refusal_of([&] { dot(computed, V).value(); }), kChanged);
}

TEST_F(ExecutorAfterAStep, WhatDoesNotDependOnTheParameterIsComputed) {
  EXPECT_THAT(floats((square(x) * w).value()), ElementsAre(2, 2));
}

TEST_F(ExecutorAfterAStep, TheParametersOwnNodeIsRefused) {
  EXPECT_EQ(refusal_of([&] { graph.parameter(W).value(); }), kChanged);
  model.to(DType::kFloat64);  // its numbers are elsewhere now
  EXPECT_EQ(refusal_of([&] { graph.parameter(W).value(); }), kChanged);
}

TEST_F(ExecutorAfterAStep, ANewGraphGoesOn) {
  graph.clear();
  EXPECT_THAT(floats(linear(graph.input(Tensor({2}, {1, 1})), W).value()), ElementsAre(2, 4));
}

}  // namespace
}  // namespace espalier
