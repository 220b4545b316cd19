/// Steps that run together, in several threads. Label: threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/threads.h"

namespace espalier::fused_steps {
namespace {

constexpr std::int32_t kWidth = 64;

struct Net {
  Model model{4};
  nn::Linear first{model / "first", kWidth, kWidth};
  nn::Linear second{model / "second", kWidth, kWidth};
};

/// The loss and all gradients of 2,000 rows, of which every few read the same operand, so that they add to one
/// gradient.
std::vector<double> numbers_of(const Net& net, std::int32_t piece_rows) {
  Graph graph({.fusing = {.rows = piece_rows, .least_bytes = 0}});
  std::vector<Expr> inputs;
  std::vector<Expr> losses;
  for (std::int32_t i = 0; i < 2000; ++i) {
    if (i % 4 == 0) {
      std::vector<float> values;
      for (std::int32_t k = 0; k < kWidth; ++k) values.push_back(static_cast<float>((i * 7 + k * k) % 23) / 11 - 1);
      inputs.push_back(graph.input({kWidth}, values));
    }
    const Expr gate = sigmoid(net.first(inputs.back()));
    const Expr value = tanh(net.second(inputs.back() * gate));
    losses.push_back(sum(value * gate + (1 - gate) * inputs[inputs.size() / 2], 0));
  }
  const Expr loss = sum(losses);
  Gradients into;
  loss.backward({.into = &into, .wanted = inputs});
  EXPECT_EQ(graph.statistics().fused > 0, piece_rows > 0);
  std::vector<double> numbers{loss.scalar()};
  const auto add = [&](const Tensor& tensor) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) numbers.push_back(tensor.at(i));
  };
  for (const Expr& input : inputs) add(input.grad());
  for (const Parameter* parameter : net.model.parameters()) add(into.find(*parameter)->to_tensor());
  return numbers;
}

TEST(FusedStepsThreads, GiveWhatStepsByThemselvesGiveInOne) {
  const Net net;
  std::vector<double> expected;
  {
    const testing::Threads one(1);
    expected = numbers_of(net, 0);
  }
  for (const int count : {1, 2, 4}) {
    const testing::Threads threads(count);
    for (const std::int32_t rows : {8, 64})
      for (int time = 0; time < 3; ++time) {
        const std::vector<double> actual = numbers_of(net, rows);
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(actual[i], expected[i], 1e-3 * std::abs(expected[i]) + 1e-3) << i;
      }
  }
}

}  // namespace
}  // namespace espalier::fused_steps
