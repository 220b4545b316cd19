/// Recursions in several threads: of one over many rows, and of one in each thread. Label: threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "espalier/cells/recursion.h"
#include "espalier/exec/gradients.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/threads.h"

namespace espalier::recursions {
namespace {

using In = std::span<const Expr>;

struct Net {
  Model model{5};
  nn::Linear leaf{model / "leaf", 8, 40};
  nn::Linear node{model / "node", 80, 40};
  Recursion recursion{"net",
                      {{0, [this](In in) { return tanh(leaf(in[0])); }},
                       {2, [this](In in) { return tanh(node(concat(in, 0))); }, TakesX::kNo}}};
};

/// The loss and all gradients of some structures over 200 leaves, of which parents share children or do not.
std::vector<double> numbers_of(const Net& net, bool shared) {
  Graph graph;
  std::vector<Expr> losses;
  for (int instance = 0; instance < 3; ++instance) {
    std::vector<float> x;
    for (int i = 0; i < 200 * 8; ++i) x.push_back(static_cast<float>((i * 7 + instance) % 13) / 7 - 1);
    Structure structure;
    for (std::int32_t i = 0; i < 200; ++i) structure.add(0, shared ? i / 2 : i);
    for (std::int32_t i = 0; i < 198; i += shared ? 1 : 2) structure.add(1, Structure::kNoX, {i, i + 1});
    losses.push_back(sum(net.recursion(graph.input_rows({8}, x), structure)[0], 0));
  }
  const Expr loss = sum(losses);
  Gradients into;
  loss.backward({.into = &into, .wanted = {}});
  std::vector<double> numbers{loss.scalar()};
  for (const Parameter* parameter : net.model.parameters()) {
    const Tensor whole = into.find(*parameter)->to_tensor();
    for (std::int64_t i = 0; i < whole.elements(); ++i) numbers.push_back(whole.at(i));
  }
  return numbers;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-3 * std::abs(expected[i]) + 1e-3) << i;
}

TEST(RecursionThreads, DivideTheRowsOfAHeight) {
  const Net net;
  for (const bool shared : {false, true}) {
    std::vector<double> expected;
    {
      const testing::Threads one(1);
      expected = numbers_of(net, shared);
    }
    const testing::Threads four(4);
    for (int time = 0; time < 5; ++time) expect_close(numbers_of(net, shared), expected);
  }
}

TEST(RecursionThreads, ShareWhatWasCompiled) {
  const Net net;
  const testing::Threads one(1);
  std::vector<std::vector<double>> all(4);
  std::vector<std::thread> threads;
  for (std::vector<double>& each : all) threads.emplace_back([&] { each = numbers_of(net, false); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<double>& each : all) EXPECT_EQ(each, all[0]);
}

}  // namespace
}  // namespace espalier::recursions
