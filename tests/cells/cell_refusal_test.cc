/// What the function of a cell may not do, to the letter.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"

namespace espalier {
namespace {

using testing::here;
using testing::refusal_of;

class CellRefusals : public testing::SmallModel {
 protected:
  Graph graph;
  Expr x = graph.constant({kWidth}, 0.5);

  /// Expects a refusal that leaves the graph as it was.
  template <class Use>
  void expect_refusal(const std::string& text, const Use& use) {
    const std::int32_t size = graph.size();
    const std::int32_t signatures = graph.signatures().size();
    EXPECT_EQ(refusal_of(use), text);
    EXPECT_EQ(graph.size(), size);
    EXPECT_EQ(graph.signatures().size(), signatures);
    EXPECT_NEAR(tanh(x).value().at(0), std::tanh(0.5), 1e-6);
  }
};

TEST_F(CellRefusals, ExprsThatItWasNotGiven) {
  const int line = __LINE__ + 1;
  const auto second = cell("step", [&](Expr y) { return y + x; });
  expect_refusal(
      "cell \"step\": its function uses an Expr that it was not given; make it an input\n  in add\n  at " + here(line),
      [&] { second(x); });
  const auto first = cell("step", [&](Expr y) { return x * y; });
  expect_refusal("cell \"step\": its function uses an Expr that it was not given; make it an input\n  in mul\n  at " +
                     here(line + 4),
                 [&] { first(x); });
  const auto given = cell("step", [&](Expr) { return x; });
  expect_refusal("cell \"step\": its function gives back an Expr that it neither made nor was given",
                 [&] { given(x); });
  const auto nothing = cell("step", [&](Expr) { return Expr(); });
  expect_refusal("cell \"step\": its function gives back an Expr that it neither made nor was given",
                 [&] { nothing(x); });
}

TEST_F(CellRefusals, OpsOnForeignExprsAlone) {
  const auto alone = cell("step", [&](Expr y) { return y + tanh(x); });
  const int line = __LINE__ - 1;
  expect_refusal(
      "cell \"step\": its function uses an Expr that it was not given; make it an input\n  in add\n  at " + here(line),
      [&] { alone(x); });
}

TEST_F(CellRefusals, Leaves) {
  const int line = __LINE__ + 1;
  const auto step = cell("step", [](Expr y) { return y + y.graph().constant(1.5); });
  expect_refusal("cell \"step\": its function makes a leaf; give it as an input instead\n  at " + here(line),
                 [&] { step(x); });
}

TEST_F(CellRefusals, Values) {
  const std::string text = "cell \"step\": its function reads a value; a cell is traced, and computes nothing by then";
  const auto reads = cell("step", [](Expr y) { return y * y.value().at(0); });
  expect_refusal(text, [&] { reads(x); });
  const auto differentiates = cell("step", [](Expr y) {
    sum_elements(y).backward();
    return y;
  });
  expect_refusal(text, [&] { differentiates(x); });
  const auto finishes = cell("step", [](Expr y) {
    y.graph().finish({y});
    return y;
  });
  expect_refusal(text, [&] { finishes(x); });
}

TEST_F(CellRefusals, OpsWithANumberOfTheirOwnAtEveryNode) {
  const auto expect = [&](const std::string& op, int line, const auto& step) {
    expect_refusal("cell \"step\": " + op +
                       " takes a number of its own at every node, and a cell is traced once; call it outside of the "
                       "cell\n  at " +
                       here(line),
                   [&] { step(x); });
  };
  const int line = __LINE__ + 1;
  const auto looks_up = cell("step", [&](Expr y) { return y + lookup(y.graph(), table, 2); });
  expect("lookup", line, looks_up);
  const auto picks = cell("step", [&](Expr y) { return pick(y, 2); });
  expect("pick", line + 2, picks);
  const auto labels = cell("step", [&](Expr y) { return cross_entropy(y, 2); });
  expect("cross_entropy", line + 4, labels);
  const auto hinges = cell("step", [&](Expr y) { return hinge(y, 2); });
  expect("hinge", line + 6, hinges);
}

TEST_F(CellRefusals, TooManyResults) {
  const auto step = cell("step", [](Expr y) {
    std::array<Expr, 17> results;
    results.fill(y);
    return results;
  });
  expect_refusal("cell \"step\": its function gives back 17 Exprs; 1 to 16 are possible", [&] { step(x); });
  const auto none = cell("step", [](Expr) { return std::array<Expr, 0>(); });
  expect_refusal("cell \"step\": its function gives back 0 Exprs; 1 to 16 are possible", [&] { none(x); });
  const auto most = cell("step", [](Expr y) {
    std::array<Expr, 16> results;
    for (Expr& result : results) result = y = tanh(y);
    return results;
  });
  EXPECT_EQ(most(x)[15].shape(), Shape{kWidth});
}

TEST_F(CellRefusals, OuterInputsBeyondTheLast) {
  EXPECT_EQ(refusal_of([] {
              cell("step", [](Expr left, Expr right) { return left + right; }, {.outer = {1, 2}});
            }),
            "cell \"step\": input 2 cannot be outer: it has 2 inputs");
}

TEST_F(CellRefusals, InputsThatBelongToNoGraphOrToAnother) {
  const auto step = cell("step", [](Expr left, Expr right) { return left + right; });
  const int line = __LINE__ + 1;
  const auto use = [&](const Expr& right) { step(x, right); };
  Graph other;
  const Expr y = other.constant({kWidth}, 1);
  expect_refusal(
      "cell \"step\": input[1] belongs to another graph\n  input[1]: node 0 of that graph\n  at " + here(line),
      [&] { use(y); });
  other.clear();
  expect_refusal("cell \"step\": input[1] belongs to a graph that was cleared or destroyed\n  input[1]: node 0\n  at " +
                     here(line) +
                     "\n  hint: an Expr lives as long as its Graph; keep input[1].value() to carry a result further",
                 [&] { use(y); });
  expect_refusal("cell \"step\": input[1] is an Expr that no operation made\n  at " + here(line), [&] { use(Expr()); });
}

TEST_F(CellRefusals, ParametersAlone) {
  const auto step = cell("step", [](Expr left, Expr right) { return left + right; });
  const int line = __LINE__ + 1;
  const auto use = [&] { step(W, b); };
  expect_refusal(
      "cell \"step\": no operand belongs to a graph; pass parameters as graph.parameter(p)\n  at " + here(line), use);
}

TEST_F(CellRefusals, MistakesOfTheFunctionAreToldWithTheUsersNodes) {
  const int line = __LINE__ + 2;
  const auto step = cell("step", [&](Expr left, Expr right) {
    const Expr both = concat({left, right});
    return tanh(affine(both, W, b));
  });
  graph.begin_instance();
  const Expr wide = tanh(x);
  expect_refusal(
      "affine: size of x (12) and rows of W (6) differ\n"
      "  x: float32[12]    node 2 = concat(node 0, node 1)  " +
          here(line) +
          "\n"
          "  W: float32[6, 6]  parameter \"W\"\n"
          "  b: float32[6]     parameter \"b\"\n"
          "  at " +
          here(line + 1) + ", in instance 0",
      [&] { step(x, wide); });
}

TEST_F(CellRefusals, AfterAMistakeTheCellWorksWithOtherShapes) {
  const auto step = cell("step", [&](Expr y) { return linear(dropout(y, 0.5), W); });
  const Expr wide = graph.constant({kWidth + 1}, 1);
  EXPECT_NE(refusal_of([&] { step(wide); }), "nothing was refused");
  EXPECT_NE(refusal_of([&] { step(wide); }), "nothing was refused");
  const Tensor given = step(x).value();
  Graph expanded({.step = graph.step(), .expand_cells = true});
  EXPECT_EQ(given, step(expanded.constant({kWidth}, 0.5)).value()) << "no random number was used up";
}

}  // namespace
}  // namespace espalier
