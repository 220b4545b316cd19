/// A graph that is cleared keeps its signatures, and nothing that they could not mean any more.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "espalier/cells/cell.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

Expr ones(Graph& graph, std::int64_t size) { return graph.constant(Shape{size}, 1); }

TEST(ClearedGraph, KnowsItsSignaturesByParametersWhateverTheirNodes) {
  Model model(1);
  const Parameter& W = model.add("W", {2, 3}, init::glorot());
  const Parameter& V = model.add("V", {2, 3}, init::glorot());
  Graph graph;
  const Expr x = ones(graph, 2);
  const SignatureId by_w = graph.signature_id(linear(x, W).node());
  const SignatureId by_v = graph.signature_id(linear(x, V).node());
  const std::uint32_t epoch = graph.signature_epoch();
  const std::int32_t signatures = graph.signatures().size();
  graph.clear();
  const Expr y = ones(graph, 2);
  EXPECT_EQ(graph.signature_id(linear(y, V).node()), by_v);
  EXPECT_EQ(graph.signature_id(linear(y, W).node()), by_w);
  EXPECT_EQ(graph.signature_epoch(), epoch);
  EXPECT_EQ(graph.signatures().size(), signatures);
  EXPECT_EQ(linear(y, W).value(), [&] {
    Graph fresh;
    return linear(ones(fresh, 2), W).value();
  }());
}

TEST(ClearedGraph, TakesAParameterOfAnotherElementTypeForAnother) {
  Parameter W("W", Tensor({2, 2}, {1, 2, 3, 4}));
  Graph graph;
  EXPECT_EQ(linear(ones(graph, 2), W).value(), Tensor({2}, {4, 6}));
  const std::uint32_t epoch = graph.signature_epoch();
  graph.clear();
  W.replace_value(W.value().to(DType::kFloat64));
  const Expr y = linear(graph.input(Tensor({2}, {1, 1}).to(DType::kFloat64)), W);
  EXPECT_EQ(y.dtype(), DType::kFloat64);
  EXPECT_EQ(y.value(), Tensor({2}, {4, 6}).to(DType::kFloat64));
  EXPECT_EQ(graph.signature_epoch(), epoch);
}

TEST(ClearedGraph, ForgetsSignaturesThatNameNodes) {
  Parameter W("W", Tensor({2, 2}, {1, 2, 3, 4}));
  Graph graph;
  const auto by_scaled = [&](double factor) {
    return linear(ones(graph, 2), scale(graph.parameter(W), factor)).value();
  };
  EXPECT_EQ(by_scaled(2), Tensor({2}, {8, 12}));
  const std::uint32_t epoch = graph.signature_epoch();
  graph.clear();
  EXPECT_NE(graph.signature_epoch(), epoch) << "the scaled weights may be another node now";
  tanh(ones(graph, 2));
  EXPECT_EQ(by_scaled(3), Tensor({2}, {12, 18}));
}

TEST(ClearedGraph, KnowsWhatWasDerivedByItsName) {
  Parameter W("W", Tensor({2, 2}, {1, 2, 3, 4}));
  const std::uint64_t uid = new_uid();
  Graph graph;
  const auto product = [&](double factor) {
    const Expr scaled = graph.derived(uid, [&](Graph& in) { return scale(in.parameter(W), factor); });
    return linear(ones(graph, 2), scaled);
  };
  const Expr first = product(2);
  const SignatureId signature = graph.signature_id(first.node());
  EXPECT_EQ(first.value(), Tensor({2}, {8, 12}));
  graph.clear();
  tanh(ones(graph, 2));
  const Expr second = product(3);
  EXPECT_EQ(graph.signature_id(second.node()), signature);
  EXPECT_EQ(second.value(), Tensor({2}, {12, 18}));
}

TEST(ClearedGraph, LeavesAParameterThatWasDerivedItsName) {
  Parameter W("W", Tensor({2, 2}, {1, 2, 3, 4}));
  Graph graph;
  const Expr x = ones(graph, 2);
  const Expr by_itself = linear(x, W);
  const Expr derived = graph.derived(new_uid(), [&](Graph& in) { return in.parameter(W); });
  EXPECT_EQ(graph.signature_id(linear(x, derived).node()), graph.signature_id(by_itself.node()));
}

TEST(ClearedGraph, DropsSignaturesWhenTheyAreMany) {
  Graph graph;
  const std::uint32_t epoch = graph.signature_epoch();
  for (std::int64_t size = 1; size < 800; ++size) tanh(ones(graph, size));
  graph.clear();
  EXPECT_NE(graph.signature_epoch(), epoch);
  EXPECT_EQ(graph.signatures().size(), 0);
  EXPECT_EQ(tanh(ones(graph, 3)).shape(), Shape({3}));
}

TEST(ClearedGraph, KeepsTheProgramsOfCellsThatAreGone) {
  Parameter W("W", Tensor({2, 2}, {1, 2, 3, 4}));
  Graph graph;
  for (int round = 0; round < 20; ++round) {
    // A new cell's program must not be taken for that of an old one whose memory it has.
    const auto step = cell("step", [&](Expr x) { return scale(linear(x, W), round); });
    EXPECT_EQ(step(ones(graph, 2)).value(),
              Tensor({2}, {4.0F * static_cast<float>(round), 6.0F * static_cast<float>(round)}));
    graph.clear();
  }
}

TEST(ClearedGraph, CountsOnlyTheSignaturesOfItsNodes) {
  Graph graph;
  tanh(ones(graph, 2));
  graph.clear();
  ones(graph, 2);
  EXPECT_EQ(graph.list_nodes().find("graph of 1 nodes, 1 signatures, 0 instances\n"), 0U);
}

TEST(ClearedGraph, FindsANodeAgainThatWasTakenBack) {
  Parameter W("W", Tensor({2, 2}, {1, 2, 3, 4}));
  Graph graph;
  linear(ones(graph, 2), W).value();
  graph.clear();
  const Expr wrong = ones(graph, 3);
  EXPECT_ANY_THROW(linear(wrong, W));
  EXPECT_EQ(graph.size(), 1) << "the node of W is taken back with the product";
  EXPECT_EQ(linear(ones(graph, 2), W).value(), Tensor({2}, {4, 6}));
}

}  // namespace
}  // namespace espalier
