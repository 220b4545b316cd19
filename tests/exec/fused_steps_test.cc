/// Consecutive steps over the same rows in the same order run together, a few rows at a time.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "espalier/exec/aligned_rows.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"

namespace espalier::fused_steps {
namespace {

// --- which rows are aligned ------------------------------------------------------------------------------------------

class AlignedRowsOf : public ::testing::Test {
 protected:
  bool fit(const ConstRows& rows) const { return all.fit(rows); }

  static constexpr std::int64_t kRows = 4;
  std::array<float, 1000> memory{};
  float* const m = memory.data();
  exec::AlignedRows all;
};

TEST_F(AlignedRowsOf, EvenlySpacedOnesMeetRowByRowOrNotAtAll) {
  all.add({m + 100, kRows, 8, 10, nullptr});            // rows at 100, 110, 120, 130
  EXPECT_TRUE(fit({m + 100, kRows, 8, 10, nullptr}));   // the same
  EXPECT_TRUE(fit({m + 103, kRows, 2, 10, nullptr}));   // columns of them
  EXPECT_TRUE(fit({m + 108, kRows, 2, 10, nullptr}));   // beside each
  EXPECT_TRUE(fit({m + 98, kRows, 10, 10, nullptr}));   // they are columns of these
  EXPECT_FALSE(fit({m + 110, kRows, 8, 10, nullptr}));  // a row behind
  EXPECT_FALSE(fit({m + 100, kRows, 8, 20, nullptr}));  // other distances
  EXPECT_FALSE(fit({m + 95, kRows, 10, 10, nullptr}));  // reaches into two
  EXPECT_FALSE(fit({m + 136, kRows, 8, 10, nullptr}));  // the first in the last
  EXPECT_TRUE(fit({m + 138, kRows, 8, 10, nullptr}));   // behind all
  EXPECT_TRUE(fit({m + 60, kRows, 10, 10, nullptr}));   // before all
  EXPECT_TRUE(fit({m + 110, kRows, 8, 0, nullptr}));    // a row that all share
}

TEST_F(AlignedRowsOf, OnesThatLieAnywhereMeetByTheirPlaces) {
  const std::array<std::int64_t, kRows> places{0, 30, 10, 50};
  const std::array<std::int64_t, kRows> others{0, 10, 30, 50};
  all.add({m + 100, kRows, 8, 8, places.data()});
  EXPECT_TRUE(fit({m + 100, kRows, 8, 8, places.data()}));
  EXPECT_TRUE(fit({m + 102, kRows, 3, 3, places.data()}));
  EXPECT_FALSE(fit({m + 102, kRows, 8, 8, places.data()}));  // reaches beyond
  EXPECT_FALSE(fit({m + 100, kRows, 8, 8, others.data()}));  // another order
  EXPECT_FALSE(fit({m + 120, kRows, 8, 8, nullptr}));        // between them, for all that is known
  EXPECT_TRUE(fit({m + 158, kRows, 8, 8, nullptr}));
}

// --- what runs -------------------------------------------------------------------------------------------------------

constexpr std::int32_t kWidth = 7;

struct Net {
  Model model{4};
  nn::Linear first{model / "first", kWidth, kWidth};
  nn::Linear second{model / "second", kWidth, kWidth};
  nn::BinaryTreeLstm tree{model / "tree", kWidth, kWidth};
};

Expr leaf(Graph& graph, std::uint32_t number) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < kWidth; ++i)
    values.push_back(static_cast<float>((number * 13 + i * i * 7) % 23) / 11 - 1);
  return graph.input({kWidth}, values);
}

Fusing of_rows(std::int32_t rows) { return {.rows = rows, .least_bytes = 0}; }

/// A chain of ops, with a branch that all of it joins again.
Expr chain(const Net& net, const Expr& x) {
  const Expr gate = sigmoid(net.first(x));
  const Expr value = tanh(net.second(x));
  return gate * value + (1 - gate) * x;
}

TEST(FusedSteps, AreCounted) {
  for (const std::int32_t rows : {0, 2, 64}) {
    const Net net;
    Graph graph({.strategy = Strategy::kDepth, .fusing = of_rows(rows)});
    std::vector<Expr> outputs;
    for (std::uint32_t i = 0; i < 100; ++i) outputs.push_back(sigmoid(tanh(relu(leaf(graph, i)))));
    graph.finish(outputs);
    EXPECT_EQ(graph.statistics().steps, 3);
    EXPECT_EQ(graph.statistics().fused, rows == 0 ? 0 : 2) << rows;
  }
}

TEST(FusedSteps, AreThoseOfEnoughRowsAndBytes) {
  struct Case {
    std::int32_t nodes;
    std::int64_t least_bytes;
    std::int64_t fused;
  };
  // What a step reads and writes; without backward, four times as much is asked for.
  constexpr std::int64_t kBytes = 96 * 2 * kWidth * std::int64_t{sizeof(float)} / 4;
  for (const auto& [nodes, least_bytes, fused] : {Case{95, 0, 0}, {96, 0, 2}, {96, kBytes, 2}, {96, kBytes + 1, 0}}) {
    Graph graph({.fusing = {.least_bytes = least_bytes}});
    std::vector<Expr> outputs;
    for (std::int32_t i = 0; i < nodes; ++i)
      outputs.push_back(sigmoid(tanh(relu(leaf(graph, static_cast<std::uint32_t>(i))))));
    graph.finish(outputs);
    EXPECT_EQ(graph.statistics().fused, fused);
  }
}

TEST(FusedSteps, AgreeWithTheTwin) {
  for (const std::int32_t rows : {1, 2, 5, 64}) {
    SCOPED_TRACE(rows);
    const Net net;
    const auto loss_of = [&](Graph& graph, std::vector<Expr>& wanted) {
      std::vector<Expr> losses;
      for (std::uint32_t i = 0; i < 150; ++i) {
        const Expr x = leaf(graph, i);
        if (i % 50 == 3) wanted.push_back(x);
        const Expr y = chain(net, chain(net, x));
        losses.push_back(sum(i % 7 == 0 ? y : y * x, 0));
      }
      return sum(losses);
    };
    const std::vector<Tensor> expected = testing::numbers_of(net.model, {.execution = Execution::kPlain}, loss_of);
    testing::expect_near(testing::numbers_of(net.model, {.fusing = of_rows(rows)}, loss_of), expected, "wanted");
    const auto unwanted = [&](Graph& graph, std::vector<Expr>&) {
      std::vector<Expr> forgotten;
      return loss_of(graph, forgotten);
    };
    testing::expect_near(testing::numbers_of(net.model, {.fusing = of_rows(rows)}, unwanted),
                         {expected.begin(), expected.begin() + 1 + std::ssize(net.model.parameters())},
                         "memory used again");
  }
}

/// Trees of many shapes, op by op: rows of a level are read in another order than they were made.
TEST(FusedSteps, AgreeWithTheTwinOnTrees) {
  std::mt19937 random(6);
  const Net net;
  for (const std::int32_t rows : {1, 3, 64}) {
    SCOPED_TRACE(rows);
    const auto seed = static_cast<std::uint32_t>(random());
    const auto loss_of = [&](Graph& graph, std::vector<Expr>&) {
      std::mt19937 shape(seed);
      std::vector<Expr> losses;
      for (std::uint32_t t = 0; t < 40; ++t) {
        graph.begin_instance();
        std::vector<nn::TreeState> open;
        for (std::uint32_t i = 0; i < 6; ++i) open.push_back(net.tree.leaf(leaf(graph, t + i)));
        while (open.size() > 1) {
          const std::size_t at = shape() % (open.size() - 1);
          open[at] = net.tree(open[at], open[at + 1]);
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(at) + 1);
          losses.push_back(sum(open[at].h * open[at].h, 0));
        }
      }
      return sum(losses);
    };
    const std::vector<Tensor> expected = testing::numbers_of(net.model, {.execution = Execution::kPlain}, loss_of);
    for (const Strategy strategy : {Strategy::kFrontier, Strategy::kDepth, Strategy::kAgenda})
      testing::expect_near(
          testing::numbers_of(net.model, {.strategy = strategy, .expand_cells = true, .fusing = of_rows(rows)},
                              loss_of),
          expected, "op by op");
  }
}

/// Where memory is used again, a step may write where another has still to read.
TEST(FusedSteps, GiveTheSameInInference) {
  const Net net;
  const auto outputs_of = [&](const GraphOptions& options) {
    Graph graph(options);
    std::vector<Expr> outputs;
    for (std::uint32_t i = 0; i < 130; ++i) {
      Expr x = leaf(graph, i);
      for (int time = 0; time < 4; ++time) x = chain(net, x);
      outputs.push_back(i % 3 == 0 ? slice(x, 1, 4) : x);
    }
    return testing::finished_values(graph, outputs);
  };
  const std::vector<Tensor> expected = outputs_of({.execution = Execution::kPlain});
  for (const std::int32_t rows : {0, 1, 3, 64})
    testing::expect_near(outputs_of({.fusing = of_rows(rows)}), expected, "finish");
}

}  // namespace
}  // namespace espalier::fused_steps
