/// What a graph records, what it refuses, and that a refused operation leaves it as it was.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lookup.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"
#include "tests/graph/zeros.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::here;
using testing::refusal_of;
using testing::zeros;

/// The numbers of an input's node.
Tensor numbers_of(const Expr& x) {
  const Graph& graph = x.graph();
  const auto* fields = static_cast<const InputFields*>(graph.fields(x.node()));
  Tensor result(x.shape(), x.dtype());
  std::copy_n(static_cast<const std::byte*>(fields->data), result.bytes(), result.data());
  return result;
}

TEST(Recording, NodesAreNumberedInOrder) {
  Graph graph;
  const Expr a = zeros(graph, {2});
  const Expr b = zeros(graph, {2});
  const Expr c = mul(a, b);
  EXPECT_EQ(graph.size(), 3);
  EXPECT_EQ(c.node(), NodeId{2});
  const std::span<const NodeId> inputs = graph.inputs(c.node());
  EXPECT_EQ(std::vector<NodeId>(inputs.begin(), inputs.end()), (std::vector<NodeId>{NodeId{0}, NodeId{1}}));
}

TEST(Recording, InputsKeepACopyOfTheirNumbers) {
  Graph graph;
  Tensor tensor({3}, {1, 2, 3});
  const Expr x = graph.input(tensor);
  tensor.set(0, 100);
  EXPECT_EQ(numbers_of(x), Tensor({3}, {1, 2, 3}));
  EXPECT_EQ(numbers_of(graph.input({2}, std::vector<float>{4, 5})), Tensor({2}, {4, 5}));
  EXPECT_EQ(numbers_of(graph.constant(2.5)), Tensor({}, {2.5F}));
  EXPECT_EQ(numbers_of(graph.constant({2}, 7)), Tensor({2}, {7, 7}));
}

TEST(Recording, LeavesHaveTheElementTypeOfTheirTensorOrOfTheGraph) {
  Graph graph({.dtype = DType::kFloat64});
  EXPECT_EQ(graph.input(Tensor({2})).dtype(), DType::kFloat32);
  EXPECT_EQ(graph.input({2}, std::vector<float>{4, 5}).dtype(), DType::kFloat64);
  EXPECT_EQ(graph.constant(0.1).dtype(), DType::kFloat64);
  EXPECT_EQ(numbers_of(graph.constant(0.1)).item(), 0.1);
  EXPECT_EQ(Graph().constant(1).graph().size(), 1) << "the temporary graph lives until here";
}

TEST(Recording, IntegersAreNoInput) {
  Graph graph;
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, graph.input(Tensor({2}, DType::kInt32)); });
  EXPECT_EQ(text, "input: a node holds float32 or float64, not int32\n  at " + here(line));
  const Parameter p("counts", Tensor({2}, DType::kInt32));
  EXPECT_EQ(refusal_of([&] { graph.parameter(p); }),
            "parameter \"counts\": a node holds float32 or float64, not int32");
  EXPECT_EQ(graph.size(), 0);
}

TEST(Recording, InputsMustFillTheirShape) {
  Graph graph;
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, graph.input({3}, std::vector<float>(2)); });
  EXPECT_EQ(text, "input: 2 values given for shape [3], which holds 3\n  at " + here(line));
  EXPECT_EQ(graph.size(), 0);
}

TEST(Recording, AParameterHasOneNode) {
  const Parameter W("W", Tensor({2, 2}));
  const Parameter V("V", Tensor({2, 2}));
  Graph graph;
  const Expr x = zeros(graph, {2});
  linear(x, W);
  linear(x, W);
  EXPECT_EQ(graph.size(), 4);
  EXPECT_EQ(graph.parameter(W).node(), NodeId{1});
  EXPECT_EQ(graph.parameter_of(NodeId{1}), &W);
  EXPECT_EQ(graph.parameter_of(NodeId{0}), nullptr);
  EXPECT_EQ(graph.parameter(V).node(), NodeId{4});
  graph.clear();
  EXPECT_EQ(graph.parameter(V).node(), NodeId{0});
}

TEST(Recording, ManyParametersAreEachFoundAgain) {
  std::vector<std::unique_ptr<Parameter>> parameters;
  for (int i = 0; i < 1000; ++i) parameters.push_back(std::make_unique<Parameter>("p", Tensor({2})));
  Graph graph;
  for (const auto& parameter : parameters) graph.parameter(*parameter);
  EXPECT_EQ(graph.size(), 1000);
  for (std::int32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(graph.parameter(*parameters[static_cast<std::size_t>(i)]).node(), NodeId{i});
  EXPECT_EQ(graph.size(), 1000);
}

TEST(Recording, SourceLinesAreTheUsers) {
  Graph graph;
  const int made_at = __LINE__ + 1;
  const Expr x = graph.constant(1);
  const int used_at = __LINE__ + 1;
  const Expr y = tanh(x) * x;
  const int summed_at = __LINE__ + 1;
  const Expr z = sum({x, y});
  EXPECT_EQ(graph.source(x.node()).to_string(), here(made_at));
  EXPECT_EQ(graph.source(y.node()).to_string(), here(used_at)) << "of an operator";
  EXPECT_EQ(graph.source(graph.inputs(y.node())[0]).to_string(), here(used_at));
  EXPECT_EQ(graph.source(z.node()).to_string(), here(summed_at)) << "of a list";
}

TEST(Recording, AMismatchNamesBothOperandsWhereTheyWereMadeAndTheLine) {
  const Parameter W("cell.W_left", Tensor({64, 128}));
  Graph graph;
  graph.begin_instance();
  graph.begin_instance();
  const Expr x = zeros(graph, {50});
  const int made_at = __LINE__ + 1;
  const Expr h = tanh(x);
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, linear(h, W); });
  EXPECT_EQ(text,
            "linear: size of x (50) and rows of W (64) differ\n"
            "  x: float32[50]       node 1 = tanh(node 0)  " +
                here(made_at) +
                "\n"
                "  W: float32[64, 128]  parameter \"cell.W_left\"\n"
                "  at " +
                here(line) + ", in instance 1");
}

TEST(Recording, ARefusalOfManyOperandsShowsTheFirstFour) {
  Graph graph;
  const int made_at = __LINE__ + 1;
  const Expr x = graph.input(Tensor({2}));
  std::vector<Expr> list(6, x);
  list[5] = zeros(graph, {3});
  int line = 0;
  const std::string text = refusal_of([&] { line = __LINE__, sum(list); });
  const std::string operand = " float32[2]  node 0 = input()  " + here(made_at) + "\n";
  EXPECT_EQ(text, "sum: x[0] is float32[2] and x[5] is float32[3]; all must be equal\n  x[0]:" + operand + "  x[1]:" +
                      operand + "  x[2]:" + operand + "  x[3]:" + operand + "  and 2 more\n  at " + here(line));
}

TEST(Recording, ElementTypesAreNotMixed) {
  const Parameter W("W", Tensor({2, 2}, DType::kFloat64));
  Graph graph;
  const Expr x = zeros(graph, {2});
  const std::string text = refusal_of([&] { linear(x, W); });
  EXPECT_EQ(text.substr(0, text.find('\n')), "linear: x is float32 and W is float64");
  EXPECT_EQ(graph.size(), 1);
}

TEST(Recording, ARefusedOperationLeavesTheGraphUnchanged) {
  const Parameter W("W", Tensor({3, 3}));
  Graph graph;
  const Expr x = zeros(graph, {2});
  const std::string before = graph.list_nodes();
  EXPECT_NE(refusal_of([&] { linear(x, W); }), "was accepted");
  EXPECT_EQ(graph.size(), 1) << "the parameter's node is gone as well";
  EXPECT_EQ(graph.list_nodes(), before);
  EXPECT_EQ(graph.parameter(W).node(), NodeId{1}) << "and is made again when wanted";
  EXPECT_EQ(graph.parameter_of(NodeId{1}), &W);
}

TEST(Recording, ARefusedOperationKeepsParametersRecordedBefore) {
  const Parameter W("W", Tensor({3, 3}));
  Graph graph;
  const Expr w = graph.parameter(W);
  const Expr x = zeros(graph, {2});
  EXPECT_NE(refusal_of([&] { linear(x, W); }), "was accepted");
  EXPECT_EQ(graph.size(), 2);
  EXPECT_EQ(graph.parameter(W).node(), w.node());
}

TEST(Recording, ARefusedFieldLeavesNothingThatALaterNodeCouldBeTakenFor) {
  // The table of the refused lookup and the other one get the same node number, one after the other.
  const Parameter narrow("narrow", Tensor({3, 2}));
  const Parameter wide("wide", Tensor({3, 5}));
  Graph graph;
  const OpInfo& info = ops::info_of<ops::Lookup>();
  const ops::Lookup::Fields outside{7};
  const ops::Lookup::Fields inside{1};
  const Operand first(narrow);
  const Operand second(wide);
  EXPECT_THROW(graph.record(info, nullptr, &outside, {&first, 1}), UsageError);
  EXPECT_EQ(graph.record(info, nullptr, &inside, {&second, 1}).shape(), (Shape{5}));
}

TEST(Recording, GoesOnAfterClear) {
  Graph graph;
  for (int round = 0; round < 3; ++round) {
    const Expr x = zeros(graph, {2});
    EXPECT_EQ(mul(x, tanh(x)).node(), NodeId{2});
    EXPECT_EQ(graph.signatures().size(), 3U);
    graph.clear();
    EXPECT_EQ(graph.size(), 0);
    EXPECT_EQ(graph.list_nodes(), "graph of 0 nodes, 0 signatures, 0 instances\n");
  }
}

TEST(Recording, AMillionNodesAreOrdinary) {
  Graph graph;
  Expr x = graph.constant(1);
  for (int i = 0; i < 1000000; ++i) x = tanh(x);
  EXPECT_EQ(graph.size(), 1000001);
  EXPECT_EQ(graph.signatures().size(), 2U);
}

TEST(Recording, WhatIsDerivedFromParametersIsOneNodeAGraph) {
  const Parameter W("W", Tensor({2, 2}));
  const std::uint64_t uid = new_uid();
  int made = 0;
  const auto squashed = [&](Graph& graph) {
    ++made;
    return tanh(graph.parameter(W));
  };
  Graph graph;
  graph.begin_instance();
  const Expr first = graph.derived(uid, squashed);
  graph.begin_instance();
  EXPECT_EQ(graph.derived(uid, squashed).node(), first.node());
  EXPECT_NE(graph.derived(new_uid(), squashed).node(), first.node());
  EXPECT_EQ(made, 2);
  graph.clear();
  graph.derived(uid, squashed);
  EXPECT_EQ(made, 3) << "the graph has forgotten it";
}

TEST(Recording, WhatIsDerivedIsForgottenWithTheNodesThatAreTakenBack) {
  const Parameter W("W", Tensor({2, 2}));
  const std::uint64_t uid = new_uid();
  const auto squashed = [&](Graph& graph) { return tanh(graph.parameter(W)); };
  Graph graph;
  graph.rehearse([&] { graph.derived(uid, squashed); });
  EXPECT_EQ(graph.size(), 0);
  graph.constant(1);
  EXPECT_EQ(graph.derived(uid, squashed).node(), NodeId{2});
}

TEST(Recording, OnlyWhatIsMadeFromParametersAloneIsDerived) {
  Graph graph;
  EXPECT_EQ(refusal_of([&] { graph.derived(new_uid(), [](Graph& g) { return tanh(g.constant(1)); }); }),
            "derived: node 1 = tanh(node 0) is not made from parameters alone");
}

}  // namespace
}  // namespace espalier
