/// One cell in several threads, each with graphs of its own.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/exec/gradients.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

constexpr int kThreads = 4;

template <class F>
void in_threads(const F& f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(f, t);
  for (std::thread& thread : threads) thread.join();
}

struct Numbers {
  Tensor loss{Shape{}};
  Tensor gradient{Shape{}};
  bool operator==(const Numbers&) const = default;
};

/// Some levels of uses with rows of this width, differentiated.
template <class Step>
Numbers run(const Step& step, const Parameter& W, std::int32_t rows) {
  Graph graph;
  std::vector<Expr> ends;
  for (std::int32_t r = 0; r < rows; ++r) {
    graph.begin_instance();
    Expr x = graph.constant({W.shape()[0]}, 0.01 * r);
    for (int k = 0; k < 3; ++k) x = step(x, graph.constant({2 + r % 3}, 0.5))[0];
    ends.push_back(sum_elements(x));
  }
  Gradients gradients;
  const Expr loss = sum(ends);
  loss.backward({.into = &gradients, .wanted = {}});
  return {loss.value(), gradients.find(W)->to_tensor()};
}

TEST(CellThreads, CompileAndRunOneCellAtATime) {
  Model model;
  const Parameter& W = model.add("W", {20, 20}, init::uniform(-0.5, 0.5));
  // Every round a new cell, so that threads meet while it is compiled for its combinations of shapes.
  for (int round = 0; round < 20; ++round) {
    const auto step = cell("step", [&](Expr x, Expr other) {
      return std::array<Expr, 2>{tanh(linear(x, W) + sum_elements(other)), x};
    });
    std::vector<Numbers> given(kThreads);
    in_threads([&](int t) { given[static_cast<std::size_t>(t)] = run(step, W, 30); });
    const Numbers expected = run(step, W, 30);
    for (const Numbers& numbers : given) EXPECT_EQ(numbers, expected);
  }
}

TEST(CellThreads, LayersAreForAllThreads) {
  Model model;
  const nn::BinaryTreeLstm tree(model / "tree", 8, 8);
  std::vector<Tensor> given(kThreads, Tensor({8}));
  const auto value = [&] {
    Graph graph;
    std::vector<nn::TreeState> states;
    for (int i = 0; i < 16; ++i) states.push_back(tree.leaf(graph.constant({8}, 0.1 * i)));
    for (std::size_t i = 0; states.size() < 31; i += 2) states.push_back(tree(states[i], states[i + 1]));
    return states.back().h.value();
  };
  in_threads([&](int t) { given[static_cast<std::size_t>(t)] = value(); });
  for (const Tensor& tensor : given) EXPECT_EQ(tensor, value());
}

}  // namespace
}  // namespace espalier
