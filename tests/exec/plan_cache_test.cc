/// Plans of shapes that come again are made once, and give the same numbers.
#include <gtest/gtest.h>

#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/exec/run/plan_cache.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/sum.h"

namespace espalier {
namespace {

class PlanCache : public ::testing::Test {
 protected:
  PlanCache() { exec::set_plan_cache_size(0), exec::set_plan_cache_size(16); }
  ~PlanCache() override { exec::set_plan_cache_size(256); }

  struct Outcome {
    double loss;
    Tensor gradient;
    std::int64_t hits;
    std::int64_t plans;
  };

  /// A minibatch of chains; `words` chooses rows and labels, `length` the shape.
  Outcome run(int length, int words) {
    Graph graph({.memoise = Memoise::kOff});
    std::vector<Expr> losses;
    for (int i = 0; i < 3; ++i) {
      graph.begin_instance();
      nn::TreeState state = cell_.leaf(words_(graph, (words + i) % 7));
      for (int k = 0; k < length; ++k) state = cell_(state, cell_.leaf(words_(graph, (words + i * k) % 7)));
      losses.push_back(cross_entropy(classify_(state.h), (words + i) % 3));
    }
    const Expr loss = sum(losses);
    Gradients gradients;
    loss.backward({.into = &gradients, .wanted = {}});
    const Statistics taken = graph.statistics();
    return {loss.scalar(), gradients.find(*model_.parameters()[0])->to_tensor(), taken.plan_hits, taken.plans};
  }

 private:
  Model model_{3};
  nn::Embedding words_{model_ / "words", 7, 4};
  nn::BinaryTreeLstm cell_{model_ / "cell", 4, 5};
  nn::Linear classify_{model_ / "classify", 5, 3};
};

TEST_F(PlanCache, AShapeIsKeptFromTheSecondTimeOn) {
  EXPECT_EQ(run(2, 0).hits, 0);
  EXPECT_EQ(run(2, 1).hits, 0);
  const Outcome third = run(2, 2);
  EXPECT_EQ(third.hits, 1);
  EXPECT_EQ(third.plans, 1);
}

TEST_F(PlanCache, AKnownPlanGivesTheSameBits) {
  std::vector<Outcome> fresh;
  exec::set_plan_cache_size(0);
  for (int words = 0; words < 6; ++words) fresh.push_back(run(3, words));
  exec::set_plan_cache_size(16);
  for (int words = 0; words < 6; ++words) {
    const Outcome again = run(3, words);
    EXPECT_EQ(again.hits, words < 2 ? 0 : 1);
    EXPECT_EQ(again.loss, fresh[static_cast<std::size_t>(words)].loss);
    EXPECT_EQ(again.gradient, fresh[static_cast<std::size_t>(words)].gradient);
  }
}

TEST_F(PlanCache, AnotherShapeIsAnotherPlan) {
  for (int i = 0; i < 3; ++i) run(2, i);
  EXPECT_EQ(run(4, 0).hits, 0);
  EXPECT_EQ(run(2, 3).hits, 1);
}

TEST_F(PlanCache, TheLeastRecentlyUsedMakesRoom) {
  exec::set_plan_cache_size(2);
  for (int length : {1, 2, 3}) {
    run(length, 0);
    run(length, 0);
  }
  EXPECT_EQ(run(3, 0).hits, 1);
  EXPECT_EQ(run(2, 0).hits, 1);
  EXPECT_EQ(run(1, 0).hits, 0);
}

TEST_F(PlanCache, AShapeThatComesSeldomTakesNobodysPlace) {
  exec::set_plan_cache_size(1);
  for (int i = 0; i < 2; ++i) run(2, 0);
  for (int round = 0; round < 3; ++round)
    for (int length = 3; length < 9; ++length) EXPECT_EQ(run(length, 0).hits, 0);
  EXPECT_EQ(run(2, 0).hits, 1);
}

TEST_F(PlanCache, NothingIsKeptWithoutRoom) {
  exec::set_plan_cache_size(0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(run(2, i).hits, 0);
}

}  // namespace
}  // namespace espalier
