/// Depth and width are ordinary input: nothing recurses over nodes, so an 8 MB stack is enough for any graph.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/add.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/sum_axis.h"
#include "tests/support/small_stack.h"

namespace espalier {
namespace {

constexpr std::int32_t kChain = 1'000'000;

using testing::on_8_megabytes;

void run_chain(Execution execution, std::int32_t length) {
  Model model;
  Parameter& w = model.add("w", {}, init::constant(1));
  auto graph = std::make_unique<Graph>(GraphOptions{.execution = execution});
  Expr x = graph->constant(0.5);
  const Expr input = x;
  x = mul(x, w);
  while (graph->size() < length) x = scale(x, graph->size() % 2 == 0 ? 2 : 0.5);
  const std::int32_t last = index_of(x.node());
  const double value = last % 2 == 0 ? 0.5 : 0.25;  // halved at odd nodes, from node 3 on
  EXPECT_EQ(graph->size(), length);
  EXPECT_EQ(x.scalar(), value);
  x.backward({.into = nullptr, .wanted = {input}});
  EXPECT_EQ(model.gradients().find(w)->dense.item(), value);
  EXPECT_EQ(input.grad().item(), value / 0.5);
  const std::string text = graph->list_nodes();
  EXPECT_EQ(text.substr(0, text.find(' ', 9)), "graph of " + std::to_string(length));
  EXPECT_NE(text.find("node " + std::to_string(last) + " = scale(node " + std::to_string(last - 1) + ")"),
            std::string::npos);
  graph.reset();
  EXPECT_THROW(x.value(), std::runtime_error);
}

TEST(Depth, AChainOfAMillionNodesRunsOnAStackOf8Megabytes) {
  on_8_megabytes([] { run_chain(Execution::kKernels, kChain); });
}

TEST(Depth, AndByThePlainCode) {
  on_8_megabytes([] { run_chain(Execution::kPlain, kChain / 4); });
}

TEST(Depth, AChainThatForksAndJoinsAtEveryNodeIsWalkedOnce) {
  // 2^depth paths: whoever follows paths instead of nodes does not come back.
  on_8_megabytes([] {
    Model model;
    Parameter& w = model.add("w", {}, init::constant(1));
    Graph graph;
    Expr x = mul(graph.constant(1), w);
    for (int i = 0; i < 50'000; ++i) x = scale(add(x, x), 0.5);
    x.backward();
    EXPECT_EQ(x.scalar(), 1);
    EXPECT_EQ(model.gradients().find(w)->dense.item(), 1);
  });
}

TEST(Depth, ASumOfManyOperandsRunsOnAStackOf8Megabytes) {
  on_8_megabytes([] {
    constexpr int kOperands = 200'000;
    Model model;
    Parameter& w = model.add("w", {2}, init::constant(0.5));
    Graph graph;
    std::vector<Expr> parts;
    for (int i = 0; i < kOperands; ++i) parts.push_back(scale(graph.parameter(w), i % 2));
    sum(sum(parts), 0).backward();
    EXPECT_EQ(sum(parts).value(), Tensor({2}, {kOperands / 4.0F, kOperands / 4.0F}));
    EXPECT_EQ(model.gradients().find(w)->dense, Tensor({2}, {kOperands / 2.0F, kOperands / 2.0F}));
    EXPECT_NE(graph.list_nodes().find("and 199994 more"), std::string::npos);
  });
}

}  // namespace
}  // namespace espalier
