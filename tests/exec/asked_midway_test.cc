/// Values asked for in the middle of recording: what that costs does not grow with the graph, and compute() asks for
/// several at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/exec/run_memory.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

TEST(AskedMidway, ComputeRunsSeveralExprsTogether) {
  Graph graph;
  const Expr a = tanh(graph.constant({4}, 1));
  const Expr b = tanh(graph.constant({4}, 2));
  graph.compute({a, b});
  EXPECT_EQ(graph.statistics().runs, 1);
  EXPECT_EQ(graph.statistics().steps, 1);
  EXPECT_EQ(a.value().at(0), std::tanh(1.0F));
  EXPECT_EQ(b.value().at(0), std::tanh(2.0F));
  EXPECT_EQ(graph.statistics().runs, 1);
  graph.compute({});
  graph.compute({a});
  EXPECT_EQ(graph.statistics().runs, 1);
}

TEST(AskedMidway, ComputeRefusesAnExprOfAnotherGraph) {
  Graph graph;
  Graph other;
  EXPECT_THROW(graph.compute({tanh(other.constant({4}, 1))}), UsageError);
}

TEST(AskedMidway, GradientsAreThoseOfOneRun) {
  Model model{1};
  const nn::LstmCell cell(model / "cell", 5, 5);
  const auto gradient = [&](bool asks) {
    Graph graph;
    const Expr x = graph.constant({5}, 0.3);
    auto state = cell.initial(graph);
    for (int i = 0; i < 6; ++i) {
      state = cell(x, state);
      if (asks) graph.compute({state.h});
    }
    const Expr loss = dot(state.h, state.c);
    loss.backward({.into = nullptr, .wanted = {x}});
    return x.grad();
  };
  const Tensor once = gradient(false);
  const Tensor asked = gradient(true);
  for (std::int64_t i = 0; i < once.elements(); ++i) EXPECT_NEAR(once.at(i), asked.at(i), 1e-6);
}

/// The memory of a run is that of its nodes, whatever was asked for before.
TEST(AskedMidway, EachTokenTakesTheSameMemory) {
  Model model{1};
  const nn::LstmCell cell(model / "cell", 8, 8);
  Graph graph;
  const Expr x = graph.constant({8}, 0.3);
  auto state = cell.initial(graph);
  const auto decode = [&](int tokens) {
    for (int i = 0; i < tokens; ++i) {
      state = cell(x, state);
      graph.compute({state.h});
    }
    return graph.statistics().peak_bytes;
  };
  decode(100);
  const std::int64_t at_start = graph.statistics().peak_bytes;
  const std::int64_t after_thousand = decode(1000);
  const std::int64_t after_two = decode(1000);
  EXPECT_NEAR(static_cast<double>(after_two - after_thousand), static_cast<double>(after_thousand - at_start),
              0.01 * static_cast<double>(after_thousand));
}

TEST(RunMemory, SmallPiecesShareABuffer) {
  exec::RunMemory memory;
  const std::byte* const first = memory.take_lasting(100);
  const std::byte* const second = memory.take_lasting(100);
  EXPECT_EQ(second - first, 128);
  EXPECT_EQ(memory.bytes_used(), 200);
  memory.give(second);
  EXPECT_EQ(memory.bytes_used(), 100);
  EXPECT_EQ(memory.take_lasting(10), second);
  memory.clear();
  EXPECT_EQ(memory.bytes_used(), 0);
  EXPECT_EQ(memory.take_lasting(1), first);
}

TEST(RunMemory, PiecesDoNotOverlapAndOutgrowABuffer) {
  exec::RunMemory memory;
  std::vector<std::byte*> pieces;
  constexpr std::int64_t kBytes = 40'000;
  for (int i = 0; i < 100; ++i) {
    pieces.push_back(memory.take_lasting(kBytes));
    std::fill(pieces.back(), pieces.back() + kBytes, static_cast<std::byte>(i));
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i][0], static_cast<std::byte>(i));
    EXPECT_EQ(pieces[i][kBytes - 1], static_cast<std::byte>(i));
  }
}

TEST(RunMemory, ABufferThatFitsIsUsedAgain) {
  exec::RunMemory memory;
  const std::byte* const large = memory.take(1'000'000);
  const std::byte* const small = memory.take(500'000);
  memory.give(large);
  memory.give(small);
  EXPECT_EQ(memory.take(400'000), small);
  EXPECT_EQ(memory.take(900'000), large);
}

}  // namespace
}  // namespace espalier
