/// The networks of the workloads without a limit: batched in every way they compute what the reference twin does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/suite/network.h"
#include "bench/workloads/networks.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/sum.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kInstances = 6;

struct Case {
  std::string name;
  std::function<std::unique_ptr<Network>()> make;
};

template <class Instance>
SharedData<Instance> shared(DataSet<Instance> set) {
  return std::make_shared<const DataSet<Instance>>(std::move(set));
}

std::vector<Case> cases() {
  const Generate few{.count = kInstances, .seed = 7};
  return {
      {"B3",
       [=] { return character_tagger_network(shared(tagged_sentences({}, few)), {.embedding = 8, .hidden = 6}); }},
      {"B4", [=] { return child_sum_network(shared(dependency_trees({}, few)), {.embedding = 6, .hidden = 5}); }},
      {"B4Recursion",
       [=] { return child_sum_recursion(shared(dependency_trees({}, few)), {.embedding = 6, .hidden = 5}); }},
      {"B5", [=] { return lattice_network(shared(word_lattices({}, few)), {.embedding = 6, .hidden = 5}); }},
      {"B5Recursion", [=] { return lattice_recursion(shared(word_lattices({}, few)), {.embedding = 6, .hidden = 5}); }},
      {"B6", [=] { return message_passing_network(shared(molecules({}, few)), 6); }},
      {"B8", [=] { return matrix_vector_network(shared(sentiment_trees({}, few)), 4); }},
  };
}

struct Results {
  std::vector<float> outputs;
  double loss = 0;
  std::vector<float> gradients;
};

/// Of all instances as one minibatch.
Results run(Network& network, const GraphOptions& options) {
  Results results;
  std::vector<Expr> exprs;
  Graph inference(options);
  for (std::int32_t i = 0; i < kInstances; ++i) {
    inference.begin_instance();
    network.record_outputs(inference, i, exprs);
  }
  inference.finish(exprs);
  for (const Expr& output : exprs) {
    const Tensor value = output.value();
    results.outputs.insert(results.outputs.end(), value.as<float>().begin(), value.as<float>().end());
  }

  exprs.clear();
  Graph training(options);
  for (std::int32_t i = 0; i < kInstances; ++i) {
    training.begin_instance();
    network.record_losses(training, i, exprs);
  }
  const Expr loss = sum(exprs);
  loss.backward();
  results.loss = loss.scalar();
  for (const Parameter* parameter : network.model().parameters()) {
    const Gradient* gradient = network.model().gradients().find(*parameter);
    if (gradient == nullptr) continue;  // of a kind of bond that does not occur
    const Tensor whole = gradient->to_tensor();
    results.gradients.insert(results.gradients.end(), whole.as<float>().begin(), whole.as<float>().end());
  }
  network.model().gradients().clear();
  return results;
}

void expect_close(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  float largest = 0;
  for (const float x : expected) largest = std::max(largest, std::abs(x));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-4F * largest) << "element " << i;
}

class Networks : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(All, Networks, ::testing::ValuesIn(cases()), [](const auto& one) { return one.param.name; });

TEST_P(Networks, ComputeTheSameInEveryWay) {
  const std::unique_ptr<Network> network = GetParam().make();
  const Results expected = run(*network, {.execution = Execution::kPlain});
  const std::vector<GraphOptions> ways{{},
                                       {.memoise = Memoise::kOff},
                                       {.expand_cells = true},
                                       {.strategy = Strategy::kNone},
                                       {.strategy = Strategy::kAgenda}};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    SCOPED_TRACE("way " + std::to_string(way));
    const Results found = run(*network, ways[way]);
    EXPECT_NEAR(found.loss, expected.loss, 1e-4 * std::abs(expected.loss));
    expect_close(found.outputs, expected.outputs);
    expect_close(found.gradients, expected.gradients);
  }
}

TEST(Networks, ComputeTheSameAsARecursion) {
  const std::vector<Case> all = cases();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i + 1].name != all[i].name + "Recursion") continue;
    SCOPED_TRACE(all[i].name);
    const Results expected = run(*all[i].make(), {});
    const Results found = run(*all[i + 1].make(), {});
    EXPECT_NEAR(found.loss, expected.loss, 1e-4 * std::abs(expected.loss));
    expect_close(found.outputs, expected.outputs);
    expect_close(found.gradients, expected.gradients);
  }
}

TEST_P(Networks, StartFromTheSameWeights) {
  const std::unique_ptr<Network> one = GetParam().make();
  const std::unique_ptr<Network> other = GetParam().make();
  ASSERT_EQ(one->model().parameters().size(), other->model().parameters().size());
  for (std::size_t p = 0; p < one->model().parameters().size(); ++p) {
    const Tensor& a = one->model().parameters()[p]->value();
    const Tensor& b = other->model().parameters()[p]->value();
    EXPECT_TRUE(std::equal(a.as<float>().begin(), a.as<float>().end(), b.as<float>().begin(), b.as<float>().end()));
  }
}

}  // namespace
}  // namespace espalier::bench
