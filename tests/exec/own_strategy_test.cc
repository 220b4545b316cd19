/// Graphs that run by a strategy of the user's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "espalier/batch/own_strategy.h"
#include "espalier/exec/gradients.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/sum.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using OwnRule = std::shared_ptr<const batch::OwnStrategy>;

/// Chains of different lengths with weights that all share.
class RunsByOwnStrategy : public ::testing::Test {
 protected:
  struct Numbers {
    double loss = 0;
    std::vector<Tensor> gradients;
    Statistics statistics;
    std::string explained;
  };

  Numbers run(const GraphOptions& options) const {
    Graph graph(options);
    std::vector<Expr> losses;
    for (int i = 0; i < 4; ++i) {
      graph.begin_instance();
      nn::TreeState state = cell_.leaf(words_(graph, i));
      for (int k = 0; k <= i; ++k) state = cell_(state, cell_.leaf(words_(graph, (i * k) % 7)));
      losses.push_back(cross_entropy(classify_(state.h), i % 3));
    }
    const Expr loss = sum(losses);
    Gradients gradients;
    loss.backward({.into = &gradients, .wanted = {}});
    Numbers numbers;
    numbers.loss = loss.scalar();
    numbers.statistics = graph.statistics();
    numbers.explained = graph.explain();
    for (const auto& parameter : model_.parameters())
      numbers.gradients.push_back(gradients.find(*parameter)->to_tensor());
    return numbers;
  }

  Model model_{3};
  nn::Embedding words_{model_ / "words", 7, 4};
  nn::BinaryTreeLstm cell_{model_ / "cell", 4, 5};
  nn::Linear classify_{model_ / "classify", 5, 3};
};

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (std::int64_t i = 0; i < a.elements(); ++i) EXPECT_NEAR(a.at(i), b.at(i), 2e-6);
}

TEST_F(RunsByOwnStrategy, WithTheNumbersOfTheReference) {
  const OwnRule one_by_one = std::make_shared<batch::OwnStrategy>("one by one", [](const batch::Graph& graph) {
    std::vector<std::int32_t> step(graph.signature.size());
    for (std::size_t v = 0; v < step.size(); ++v) step[v] = static_cast<std::int32_t>(v);
    return step;
  });
  // By distance from the sources, and at one distance the signatures from the last to the first.
  const OwnRule by_depth = std::make_shared<batch::OwnStrategy>("by depth", [](const batch::Graph& graph) {
    std::vector<std::int32_t> step(graph.signature.size());
    for (std::int32_t v = 0; v < graph.size(); ++v) {
      std::int32_t depth = 0;
      for (const std::int32_t input : graph.inputs_of(v))
        depth = std::max(depth, step[static_cast<std::size_t>(input)] / graph.signatures + 1);
      const std::int32_t signature = graph.signature[static_cast<std::size_t>(v)];
      step[static_cast<std::size_t>(v)] = depth * graph.signatures + graph.signatures - 1 - signature;
    }
    return step;
  });
  const Numbers expected = run({.execution = Execution::kPlain});
  for (const OwnRule& rule : {one_by_one, by_depth}) {
    for (int round = 0; round < 3; ++round) {  // from the third on with a plan that was kept
      const Numbers numbers = run({.own_strategy = rule});
      EXPECT_NEAR(numbers.loss, expected.loss, 2e-6);
      ASSERT_EQ(numbers.gradients.size(), expected.gradients.size());
      for (std::size_t i = 0; i < expected.gradients.size(); ++i)
        expect_near(numbers.gradients[i], expected.gradients[i]);
      EXPECT_THAT(numbers.explained, ::testing::HasSubstr(rule->name()));
    }
  }
  EXPECT_GT(run({.own_strategy = one_by_one}).statistics.steps, run({.own_strategy = by_depth}).statistics.steps);
  EXPECT_EQ(run({.own_strategy = by_depth}).statistics.steps, run({.strategy = Strategy::kDepth}).statistics.steps);
}

TEST_F(RunsByOwnStrategy, AndRefusesOneThatIsWrongBeforeItRuns) {
  const OwnRule all_at_once = std::make_shared<batch::OwnStrategy>(
      "all at once", [](const batch::Graph& graph) { return std::vector<std::int32_t>(graph.signature.size(), 0); });
  EXPECT_THAT(testing::refusal_of([&] { run({.own_strategy = all_at_once}); }),
              ::testing::StartsWith("strategy \"all at once\": node "));
}

}  // namespace
}  // namespace espalier
