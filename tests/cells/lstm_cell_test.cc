/// Cells of LSTM gates: in place and not, for any number of children, with a memory that is used again.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/ops/product_log.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"

namespace espalier {
namespace {

using testing::asymmetric_sum;
using testing::expect_cells_agree;

/// Where the gates come from.
enum class Gates { kProduct, kMap };
/// What else reads the memory.
enum class Memory { kAlone, kResult, kReadAgain, kReadBefore };

class LstmCells : public ::testing::TestWithParam<std::int32_t> {
 protected:
  const std::int32_t children = GetParam();

  void expect_agreement(std::int32_t width, Gates from, Memory memory, int instances) {
    SCOPED_TRACE(::testing::Message() << children << " children of " << width << ", gates " << static_cast<int>(from)
                                      << ", memory " << static_cast<int>(memory) << ", " << instances << " instances");
    Model model;
    const std::int32_t gates = 3 + children;
    Parameter& W = model.add("W", {width, gates * width}, init::uniform(-0.5, 0.5));
    Parameter& scale = model.add("scale", {gates * width}, init::uniform(0.5, 1));
    Parameter& table = model.add("table", {11, width}, init::uniform(-1, 1));
    const auto equations = [&](Expr x, const std::vector<Expr>& states) {
      Expr all = linear(x, W);
      if (from == Gates::kMap) all = all * scale;
      const auto gate = [&](std::int32_t k) { return slice(all, k * width, (k + 1) * width); };
      std::vector<Expr> parts{gate(0), gate(2)};
      for (std::int32_t k = 0; k < children; ++k) {
        parts.push_back(gate(3 + k));
        parts.push_back(states[static_cast<std::size_t>(k)]);
      }
      const Expr c = lstm_memory(parts);
      Expr more = c;
      if (memory == Memory::kReadBefore) more = tanh(c) * x;
      const Expr h = lstm_output(gate(1), c);
      if (memory == Memory::kReadAgain) more = h * c;
      return std::array<Expr, 2>{h, memory == Memory::kAlone ? h * x : more};
    };
    const auto leaf = cell("lstm", [&](Expr x) { return equations(x, {}); });
    const auto one = cell("lstm", [&](Expr x, Expr a) { return equations(x, {a}); });
    const auto two = cell("lstm", [&](Expr x, Expr a, Expr b) { return equations(x, {a, b}); });
    const auto three = cell("lstm", [&](Expr x, Expr a, Expr b, Expr c) { return equations(x, {a, b, c}); });
    expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (int i = 0; i < instances; ++i) {
        graph.begin_instance();
        Expr x = lookup(graph, table, i % 11);
        const auto state = [&](int k) { return lookup(graph, table, (i + 3 + 2 * k) % 11) * 0.5; };
        std::array<Expr, 3> states{state(0), state(1), state(2)};
        for (int depth = 0; depth < 2; ++depth) {
          const std::array<Expr, 2> made = children == 0   ? leaf(x)
                                           : children == 1 ? one(x, states[0])
                                           : children == 2 ? two(x, states[0], states[1])
                                                           : three(x, states[0], states[1], states[2]);
          x = made[0];
          states[depth % 2 == 0 ? 0 : 2] = made[1];
          if (i == 0) inputs.insert(inputs.end(), {made[0], made[1]});
        }
        losses.push_back(asymmetric_sum(x + states[0] * 0.5));
      }
      return sum(losses);
    });
  }
};

TEST_P(LstmCells, AgreeWithTheirOps) {
  for (const std::int32_t width : {7, 16, 35})
    for (const Gates from : {Gates::kProduct, Gates::kMap})
      for (const Memory memory : {Memory::kAlone, Memory::kResult, Memory::kReadAgain, Memory::kReadBefore})
        for (const int instances : {1, 2, 7}) expect_agreement(width, from, memory, instances);
}

TEST_P(LstmCells, AgreeWithTheirOpsInManyPieces) { expect_agreement(19, Gates::kProduct, Memory::kResult, 65); }

INSTANTIATE_TEST_SUITE_P(Children, LstmCells, ::testing::Values(0, 1, 2, 3));

/// The gradients of gates that share columns are added up whichever is written first.
TEST(LstmGates, ThatOverlapGetTheSumOfTheirGradients) {
  constexpr std::int32_t kWidth = 40;
  Model model;
  Parameter& W = model.add("W", {kWidth, 3 * kWidth}, init::uniform(-0.5, 0.5));
  const auto equations = [&](Expr x) {
    const Expr all = linear(x, W);
    const auto from = [&](std::int32_t begin) { return slice(all, begin, begin + kWidth); };
    const Expr c = lstm_memory({from(0), from(5), from(21), from(9)});
    return lstm_output(from(2 * kWidth), c);
  };
  const auto lstm = cell("lstm", equations);
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    for (int i = 0; i < 3; ++i) {
      Tensor values({kWidth});
      for (std::int64_t j = 0; j < kWidth; ++j) values.set(j, static_cast<double>((i * 5 + j * 3) % 7) / 4 - 0.8);
      inputs.push_back(graph.input(values));
      losses.push_back(asymmetric_sum(lstm(inputs.back())));
    }
    return sum(losses);
  });
}

/// Sequences that begin together, and one that begins with what another has left: the zeros that a sequence begins with
/// need not be multiplied where all rows of a step have them, and their gradient is as good as any other.
TEST(LstmSequences, BeginWithZeros) {
  constexpr std::int32_t kHidden = 4;
  Model model{5};
  const nn::LstmCell lstm(model / "lstm", 5, kHidden);
  const nn::Linear down(model / "down", kHidden, 5);
  const std::array<int, 3> lengths{1, 4, 2};
  // Alone, it leaves weights that only zeros were multiplied by: their gradient is zeros, and not none.
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>&) {
    return sum(lstm(graph.constant({5}, 1), lstm.initial(graph)).h, 0);
  });
  Graph short_graph;
  Gradients gradients;
  sum(lstm(short_graph.constant({5}, 1), lstm.initial(short_graph)).h, 0).backward({.into = &gradients, .wanted = {}});
  EXPECT_NE(gradients.find(*model.parameters()[1]), nullptr);
  for (const bool wants_initial : {false, true})
    for (const bool begins_late : {false, true}) {
      const auto loss_of = [&](Graph& graph, std::vector<Expr>& inputs) {
        std::vector<Expr> losses;
        for (const int length : lengths) {
          graph.begin_instance();
          nn::LstmState state = lstm.initial(graph);
          if (wants_initial) inputs.push_back(state.h);
          for (int t = 0; t < length; ++t) {
            const std::vector<float> x(5, static_cast<float>(t + length) / 4 - 1);
            state = lstm(graph.input({5}, x), state);
          }
          if (begins_late && length == 1) state = lstm(down(state.h), lstm.initial(graph));
          losses.push_back(sum(state.h * state.c, 0));
        }
        return sum(losses);
      };
      expect_cells_agree(model, loss_of);

      Graph graph;
      std::vector<Expr> inputs;
      const Expr loss = loss_of(graph, inputs);
      const ops::ProductLog log;
      loss.backward();
      std::array<std::int64_t, 3> rows{};
      for (const ops::ProductCalls& each : log.products())
        if (each.product.k == kHidden && each.product.m == 4 * kHidden)
          rows[static_cast<std::size_t>(each.product.kind)] += each.product.rows * each.calls;
      const std::int64_t multiplied = (4 - 1) + (2 - 1) + (begins_late ? 1 : 0);
      EXPECT_EQ(rows[static_cast<std::size_t>(ops::ProductKind::kForward)], multiplied);
      EXPECT_EQ(rows[static_cast<std::size_t>(ops::ProductKind::kWeightGradient)], multiplied);
    }
}

}  // namespace
}  // namespace espalier
