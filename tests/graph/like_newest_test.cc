/// Nodes that are recorded like the newest of their op have what they would have had without it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::refusal_of;

TEST(LikeNewest, FieldsAreRefusedAfterOthersWereTaken) {
  Model model;
  const Parameter& table = model.add("table", {3, 2}, init::zeros());
  Graph graph;
  lookup(graph, table, 2);
  const std::int32_t size = graph.size();
  EXPECT_EQ(refusal_of([&] { lookup(graph, table, 3); }).find("lookup: row 3 is outside the table (rows 0 to 2)"), 0U);
  EXPECT_EQ(refusal_of([&] { lookup(graph, table, -1); }).find("lookup: row -1 is outside the table"), 0U);
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  cross_entropy(x, 1);
  EXPECT_EQ(refusal_of([&] { cross_entropy(x, 2); }).find("cross_entropy: label 2 is outside x [2]"), 0U);
  EXPECT_EQ(refusal_of([&] { pick(x, 2); }).find("pick: index 2 is outside x"), 0U);
  pick(x, 1);
  EXPECT_EQ(refusal_of([&] { pick(x, 2); }).find("pick: index 2 is outside x"), 0U);
  EXPECT_EQ(graph.size(), size + 3);
  EXPECT_EQ(pick(x, 0).scalar(), 1);
}

TEST(LikeNewest, FieldsOfManyRowsAreRefusedAfterOthersWereTaken) {
  Model model;
  const Parameter& table = model.add("table", {3, 2}, init::uniform(-1, 1));
  Graph graph;
  const Expr single = lookup(graph, table, 1);
  const Expr x = lookup_rows(graph, table, std::vector<std::int32_t>{2, 0});
  const Expr y = lookup_rows(graph, table, std::vector<std::int32_t>{1, 1, 2});
  const std::int32_t size = graph.size();
  EXPECT_EQ(refusal_of([&] {
              lookup_rows(graph, table, std::vector<std::int32_t>{0, 1, 3});
            }).find("lookup: row 3 is outside the table (rows 0 to 2)"),
            0U);
  EXPECT_EQ(graph.size(), size);
  EXPECT_EQ(graph.signature_id(x.node()), graph.signature_id(y.node()));
  EXPECT_FALSE(single.has_many_rows());
  EXPECT_FALSE(lookup(graph, table, 1).has_many_rows());
  EXPECT_EQ(x.row_count(), 2);
  EXPECT_EQ(y.row_count(), 3);
  EXPECT_EQ(y.value().at(0), table.value().at(2));
  EXPECT_EQ(y.value().at(5), table.value().at(5));
  cross_entropy_rows(x, std::vector<std::int32_t>{1, 0});
  EXPECT_EQ(refusal_of([&] {
              cross_entropy_rows(x, std::vector<std::int32_t>{1, 0, 1});
            }).find("cross_entropy: 3 rows are to be made, and x has 2"),
            0U);
  EXPECT_EQ(refusal_of([&] {
              cross_entropy_rows(y, std::vector<std::int32_t>{1, 0, 2});
            }).find("cross_entropy: label 2 is outside x [2]"),
            0U);
}

TEST(LikeNewest, ShapesMakeSignaturesOfTheirOwn) {
  Graph graph;
  const Expr a = tanh(graph.input(Tensor({2})));
  const Expr b = tanh(graph.input(Tensor({3})));
  const Expr c = tanh(graph.input(Tensor({2})));
  EXPECT_EQ(b.shape(), Shape({3}));
  EXPECT_EQ(graph.signature_id(a.node()), graph.signature_id(c.node()));
  EXPECT_NE(graph.signature_id(a.node()), graph.signature_id(b.node()));
}

TEST(LikeNewest, AttributesMakeSignaturesOfTheirOwn) {
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  EXPECT_EQ(pick(scale(x, 2), 1).scalar(), 4);
  EXPECT_EQ(pick(scale(x, 3), 1).scalar(), 6);
  EXPECT_EQ(pick(scale(x, 2), 1).scalar(), 4);
}

TEST(LikeNewest, LayersKeepTheirOwnWeights) {
  Model model(1);
  const nn::Linear first(model / "first", 2, 3);
  const nn::Linear second(model / "second", 2, 3);
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  const Expr a = first(x);
  const Expr b = second(x);
  EXPECT_NE(graph.signature_id(a.node()), graph.signature_id(b.node()));
  EXPECT_EQ(graph.signature_id(a.node()), graph.signature_id(first(x).node()));
  EXPECT_EQ(graph.signature_id(b.node()), graph.signature_id(second(x).node()));
}

/// What is not remembered leaves what is as it was, wherever that is kept.
TEST(LikeNewest, AnExprBehindAParameterChangesNothing) {
  Model model(1);
  const Parameter& first = model.add("first", {2, 3}, init::zeros());
  const Parameter& second = model.add("second", {2, 3}, init::zeros());
  Graph graph;
  const Expr x = graph.input(Tensor({2}, {1, 2}));
  for (int i = 0; i < 400; ++i) {
    const Parameter& bias = model.add("bias" + std::to_string(i), {3}, init::zeros());
    affine(x, first, bias);
    affine(x, second, graph.parameter(bias));
    EXPECT_EQ(graph.inputs(affine(x, second, bias).node())[1], graph.parameter(second).node()) << i;
  }
}

/// A parameter may come to lie where another was.
TEST(LikeNewest, ParametersAreKnownByTheirUid) {
  Graph graph;
  const Expr x = graph.input(Tensor({1}, {1}));
  std::vector<NodeId> nodes;
  for (int i = 0; i < 3; ++i) {
    Model model;
    const nn::Linear layer(model / "layer", 1, 1);
    nodes.push_back(graph.inputs(layer(x).node())[1]);
  }
  EXPECT_NE(nodes[0], nodes[1]);
  EXPECT_NE(nodes[1], nodes[2]);
}

TEST(LikeNewest, WhatIsMadeFromParametersAloneIsShared) {
  Model model;
  const Parameter& w = model.add("w", {2}, init::zeros());
  Graph graph;
  const Expr x = graph.input(Tensor({2}));
  EXPECT_FALSE(graph.shared(tanh(x).node()));
  EXPECT_TRUE(graph.shared(tanh(graph.parameter(w)).node()));
  EXPECT_FALSE(graph.shared(tanh(x).node()));
}

TEST(LikeNewest, InstancesAreThoseOfTheOperands) {
  Graph graph;
  graph.begin_instance();
  const Expr a = graph.input(Tensor({2}));
  const Expr first = add(a, a);
  graph.begin_instance();
  const Expr b = graph.input(Tensor({2}));
  EXPECT_EQ(graph.instance(add(b, b).node()), graph.instance(b.node()));
  EXPECT_EQ(graph.instance(add(a, a).node()), graph.instance(first.node()));
  const InstanceId joint = graph.instance(add(a, b).node());
  EXPECT_NE(joint, graph.instance(a.node()));
  EXPECT_NE(joint, graph.instance(b.node()));
}

TEST(LikeNewest, ExprsOfOtherGraphsAreRefused) {
  Graph graph;
  Graph other;
  const Expr x = graph.input(Tensor({2}));
  const Expr y = other.input(Tensor({2}));
  add(x, x);
  EXPECT_EQ(refusal_of([&] { add(x, y); }).find("add: b belongs to another graph"), 0U);
  graph.clear();
  EXPECT_NE(refusal_of([&] { tanh(x); }), "nothing was refused");
}

}  // namespace
}  // namespace espalier
