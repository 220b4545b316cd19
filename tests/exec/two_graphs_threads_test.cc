/// Graphs in several threads compute and differentiate over one Model, and get the bits of a serial run.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/exec/gradients.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/tree_lstm.h"
#include "tests/support/random_graph.h"

namespace espalier {
namespace {

using testing::RandomGraph;
using testing::RandomNet;
using testing::Recipe;

constexpr int kThreads = 2;
constexpr int kRounds = 10;

template <class F>
void in_threads(const F& f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(f, t);
  for (std::thread& thread : threads) thread.join();
}

Recipe recipe_of(int number) {
  Random random(static_cast<std::uint64_t>(number));
  Recipe recipe{testing::Topology{static_cast<std::uint32_t>(number % 4)}, {{}, {}}};
  for (auto& instance : recipe.instances)
    for (int i = 0; i < 30; ++i) instance.push_back({random.next(), random.next(), random.next(), random.next()});
  return recipe;
}

struct Outcome {
  std::vector<Tensor> values;
  std::vector<Tensor> gradients;
  bool operator==(const Outcome&) const = default;
};

Outcome run(RandomNet& net, int number) {
  Graph graph({.seed = 3});
  Gradients gradients;
  const RandomGraph recorded = testing::record(graph, net, recipe_of(number));
  recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
  Outcome result;
  for (const Expr& loss : recorded.losses) result.values.push_back(loss.value());
  for (const Gradient* gradient : gradients.all()) result.gradients.push_back(gradient->to_tensor());
  for (const Expr& input : recorded.inputs) result.gradients.push_back(input.grad());
  return result;
}

TEST(TwoGraphsThreads, DifferentiateOverOneModelWithTheBitsOfASerialRun) {
  RandomNet net(5);
  std::vector<Outcome> serial;
  for (int i = 0; i < kThreads * kRounds; ++i) serial.push_back(run(net, i));
  std::vector<Outcome> parallel(serial.size());
  in_threads([&](int t) {
    for (int i = t; i < kThreads * kRounds; i += kThreads) parallel[static_cast<std::size_t>(i)] = run(net, i);
  });
  for (std::size_t i = 0; i < serial.size(); ++i) EXPECT_TRUE(serial[i] == parallel[i]) << "graph " << i;
  EXPECT_TRUE(net.model.gradients().empty());
}

TEST(TwoGraphsThreads, BothDoTheSameAtTheSameTime) {
  RandomNet net(5);
  const Outcome expected = run(net, 3);
  std::vector<int> right(kThreads);
  in_threads([&](int t) {
    for (int round = 0; round < kRounds; ++round) right[static_cast<std::size_t>(t)] += run(net, 3) == expected ? 1 : 0;
  });
  EXPECT_EQ(right, std::vector<int>(kThreads, kRounds));
}

/// Products that are wide enough for the pool: both threads ask for it at once.
TEST(TwoGraphsThreads, AskForValuesOfWideLayers) {
  Model model;
  const nn::BinaryTreeLstm cell(model / "cell", 200, 200);
  const nn::Linear classify(model / "classify", 200, 10);
  const auto value_of = [&](int t) {
    Graph graph;
    std::vector<nn::TreeState> states;
    for (int i = 0; i < 4; ++i) states.push_back(cell.leaf(graph.constant({200}, 0.01 * (i + t))));
    return classify(cell(cell(states[0], states[1]), cell(states[2], states[3])).h).value();
  };
  std::vector<Tensor> serial;
  for (int t = 0; t < kThreads; ++t) serial.push_back(value_of(t));
  std::vector<Tensor> parallel(kThreads);
  in_threads([&](int t) { parallel[static_cast<std::size_t>(t)] = value_of(t); });
  EXPECT_TRUE(serial == parallel);
}

TEST(TwoGraphsThreads, AddTheirGradientsUpAfterwards) {
  RandomNet net(5);
  Gradients serial;
  std::vector<Gradients> parts(kThreads);
  const auto differentiate = [&](int t, Gradients& into) {
    Graph graph;
    testing::record(graph, net, recipe_of(t)).loss.backward({.into = &into, .wanted = {}});
  };
  for (int t = 0; t < kThreads; ++t) {
    Gradients own;
    differentiate(t, own);
    serial.add(own);
  }
  in_threads([&](int t) { differentiate(t, parts[static_cast<std::size_t>(t)]); });
  parts[0].add(parts[1]);
  ASSERT_EQ(parts[0].all().size(), serial.all().size());
  for (const Gradient* gradient : serial.all())
    EXPECT_EQ(parts[0].find(*gradient->parameter)->to_tensor(), gradient->to_tensor()) << gradient->parameter->name();
}

}  // namespace
}  // namespace espalier
