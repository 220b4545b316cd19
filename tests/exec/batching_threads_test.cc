/// The same program with the same number of threads computes the same bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/exec/gradients.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_trees.h"

namespace espalier {
namespace {

using testing::SentimentNet;

class BatchingThreads : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

struct Result {
  Tensor loss{Shape{}};
  std::vector<Tensor> gradients;
  bool operator==(const Result&) const = default;
};

Result outcome_of(const Expr& loss) {
  Gradients gradients;
  loss.backward({.into = &gradients, .wanted = {}});
  Result result;
  result.loss = loss.value();
  for (const Gradient* gradient : gradients.all()) result.gradients.push_back(gradient->to_tensor());
  return result;
}

TEST_P(BatchingThreads, TreesGiveTheSameBitsTwice) {
  SentimentNet net(48);
  const auto trees = testing::random_trees(3, 24, SentimentNet::kWords);
  for (const Strategy strategy : {Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier}) {
    const auto run = [&] {
      Graph graph({.strategy = strategy});
      return outcome_of(net.loss(graph, trees, true));
    };
    const Result first = run();
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(run() == first) << name_of(strategy);
  }
}

TEST_P(BatchingThreads, RandomGraphsGiveTheSameBitsTwice) {
  Random random(1);
  for (std::uint32_t number = 0; number < 20; ++number) {
    testing::Recipe recipe{testing::Topology{number % 4}, std::vector<std::vector<testing::Move>>(20)};
    recipe.choices = random.next();
    for (auto& instance : recipe.instances)
      for (int i = 0; i < 15; ++i) instance.push_back({random.next(), random.next(), random.next(), random.next()});
    testing::RandomNet net(5, DType::kFloat32, recipe.width());
    const auto run = [&] {
      Graph graph({.seed = 3});
      return outcome_of(testing::record(graph, net, recipe).loss);
    };
    EXPECT_TRUE(run() == run()) << "graph " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, BatchingThreads, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace espalier
