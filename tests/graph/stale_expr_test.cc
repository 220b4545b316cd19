/// An Expr of a graph that is gone, of another graph, or of none is refused with a text, and never read.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::here;
using testing::refusal_of;

constexpr const char* kHint = "\n  hint: an Expr lives as long as its Graph; keep x.value() to carry a result further";

TEST(StaleExpr, IsRefusedAfterClear) {
  Graph graph;
  graph.constant(1);
  const Expr x = graph.constant(2);
  graph.clear();
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, tanh(x); });
  EXPECT_EQ(text, "tanh: x belongs to a graph that was cleared or destroyed\n  x: node 1\n  at " + here(line) + kHint);
  EXPECT_EQ(graph.size(), 0);
}

TEST(StaleExpr, IsRefusedAfterItsGraphIsDestroyed) {
  std::optional<Graph> graph(std::in_place);
  const Expr x = graph->constant(2);
  graph.reset();
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, tanh(x); });
  EXPECT_EQ(text, "tanh: x belongs to a graph that was cleared or destroyed\n  x: node 0\n  at " + here(line) + kHint);
}

TEST(StaleExpr, IsRefusedWhenAnotherGraphTookThePlaceOfItsOwn) {
  std::optional<Graph> graph(std::in_place);
  const Expr x = graph->constant(2);
  graph.reset();
  graph.emplace();
  const Expr other = graph->constant(3);
  ASSERT_EQ(other.slot(), x.slot()) << "the place is reused";
  EXPECT_EQ(refusal_of([&] { tanh(x); }).substr(0, 56), "tanh: x belongs to a graph that was cleared or destroyed");
  EXPECT_EQ(tanh(other).node(), NodeId{1});
}

TEST(StaleExpr, IsRefusedBesideALiveOne) {
  Graph graph;
  const Expr stale = graph.input({2, 2}, std::vector<float>(4));
  graph.clear();
  const Expr live = graph.input({2}, std::vector<float>(2));
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, linear(live, stale); });
  EXPECT_EQ(text, "linear: W belongs to a graph that was cleared or destroyed\n  W: node 0\n  at " + here(line) +
                      "\n  hint: an Expr lives as long as its Graph; keep W.value() to carry a result further");
  EXPECT_EQ(graph.size(), 1);
}

TEST(StaleExpr, IsRefusedByItsPlaceInAList) {
  Graph graph;
  const Expr stale = graph.constant(1);
  graph.clear();
  const Expr live = graph.constant(2);
  EXPECT_EQ(refusal_of([&] {
              sum({live, live, stale});
            }).substr(0, 58),
            "sum: x[2] belongs to a graph that was cleared or destroyed");
}

TEST(StaleExpr, IsRefusedByTheNameOfItsOpWhereScalarsAreBroadcast) {
  Graph graph;
  const Expr stale = graph.constant(1);
  graph.clear();
  const Expr live = graph.input({2}, std::vector<float>(2));
  EXPECT_EQ(refusal_of([&] { mul(live, stale); }).substr(0, 55),
            "mul: b belongs to a graph that was cleared or destroyed");
}

TEST(StaleExpr, HasNoShape) {
  Graph graph;
  const Expr x = graph.constant(1);
  graph.clear();
  const std::string text = std::string("expr: x belongs to a graph that was cleared or destroyed\n  x: node 0") + kHint;
  EXPECT_EQ(refusal_of([&] { x.shape(); }), text);
  EXPECT_EQ(refusal_of([&] { x.dtype(); }), text);
  EXPECT_EQ(refusal_of([&] { x.graph(); }), text);
}

TEST(StaleExpr, OfAnotherGraphIsRefused) {
  Graph graph;
  Graph other;
  const Expr x = graph.input({2}, std::vector<float>(2));
  other.constant(1);
  const Expr W = other.input({2, 2}, std::vector<float>(4));
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, linear(x, W); });
  EXPECT_EQ(text, "linear: W belongs to another graph\n  W: node 1 of that graph\n  at " + here(line));
  EXPECT_EQ(graph.size(), 1);
  EXPECT_EQ(other.size(), 2);
}

TEST(StaleExpr, MadeByNoOperationIsRefused) {
  Graph graph;
  const Expr x = graph.input({2}, std::vector<float>(2));
  int line = 0;
  const std::string alone = refusal_of([&] { line = __LINE__, tanh(Expr()); });
  EXPECT_EQ(alone, "tanh: x is an Expr that no operation made\n  at " + here(line));
  const std::string beside = refusal_of([&] { line = __LINE__, linear(x, Expr()); });
  EXPECT_EQ(beside, "linear: W is an Expr that no operation made\n  at " + here(line));
  EXPECT_EQ(refusal_of([&] { Expr().shape(); }), "expr: this Expr was made by no operation");
}

TEST(StaleExpr, ParametersAloneNameTheWayOut) {
  const Parameter p("p", Tensor({2}, {1, 2}));
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, tanh(p); });
  EXPECT_EQ(text, "tanh: no operand belongs to a graph; pass parameters as graph.parameter(p)\n  at " + here(line));
}

TEST(StaleExpr, AnEmptyListIsRefused) {
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, sum(std::vector<Expr>()); });
  EXPECT_EQ(text, "sum: needs at least one operand\n  at " + here(line));
}

}  // namespace
}  // namespace espalier
