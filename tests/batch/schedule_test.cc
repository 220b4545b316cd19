/// Every strategy gives a right schedule on every graph, and frontier keeps its promise about the bound.
#include "espalier/batch/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "tests/batch/small_graph.h"

namespace espalier::batch {
namespace {

constexpr std::array kStrategies{Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};

/// The invariants of schedule.h.
void expect_right(const Graph& graph, const Schedule& schedule) {
  ASSERT_EQ(schedule.order.size(), graph.signature.size());
  std::vector<std::int64_t> step_of(graph.signature.size(), -1);
  for (std::int64_t i = 0; i < schedule.steps(); ++i) {
    ASSERT_FALSE(schedule.step(i).empty()) << "step " << i << " has no rows";
    for (std::int32_t v : schedule.step(i)) {
      ASSERT_EQ(step_of[static_cast<std::size_t>(v)], -1) << "node " << v << " runs twice";
      step_of[static_cast<std::size_t>(v)] = i;
      ASSERT_EQ(graph.signature[static_cast<std::size_t>(v)],
                graph.signature[static_cast<std::size_t>(schedule.step(i)[0])]);
    }
  }
  for (std::int32_t v = 0; v < graph.size(); ++v)
    for (std::int32_t input : graph.inputs_of(v))
      ASSERT_LT(step_of[static_cast<std::size_t>(input)], step_of[static_cast<std::size_t>(v)]);
  EXPECT_EQ(schedule.steps(), schedule.bound + schedule.forced);
  EXPECT_GE(schedule.forced, 0);
}

/// The fewest steps there can be, by trying everything. For a dozen nodes.
std::int64_t fewest_steps(const Graph& graph) {
  std::map<std::uint32_t, std::int64_t> known;
  const std::uint32_t all = (1U << graph.size()) - 1;
  const std::function<std::int64_t(std::uint32_t)> left = [&](std::uint32_t done) -> std::int64_t {
    if (done == all) return 0;
    if (const auto found = known.find(done); found != known.end()) return found->second;
    std::map<std::int32_t, std::uint32_t> ready;
    for (std::int32_t v = 0; v < graph.size(); ++v) {
      const auto inputs = graph.inputs_of(v);
      if ((done >> v & 1U) == 0 && std::all_of(inputs.begin(), inputs.end(), [&](auto i) { return done >> i & 1U; }))
        ready[graph.signature[static_cast<std::size_t>(v)]] |= 1U << v;
    }
    std::int64_t best = graph.size();
    for (const auto& [signature, nodes] : ready) best = std::min(best, 1 + left(done | nodes));
    return known[done] = best;
  };
  return left(0);
}

TEST(Schedule, IsRightForEveryStrategyOnRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const SmallGraph graph =
        random_dag(random, static_cast<std::int32_t>(1 + random.below(200)),
                   static_cast<std::int32_t>(1 + random.below(8)), static_cast<std::int32_t>(1 + random.below(60)));
    for (Strategy strategy : kStrategies) {
      SCOPED_TRACE(name_of(strategy));
      expect_right(graph.view(), schedule(strategy, graph.view()));
    }
  }
}

TEST(Schedule, TheBoundIsNeverAboveTheFewestStepsThereCanBe) {
  int at_the_bound = 0;
  int best_possible = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const SmallGraph graph = random_dag(random, 11, static_cast<std::int32_t>(1 + random.below(4)), 8);
    const std::int64_t fewest = fewest_steps(graph.view());
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    EXPECT_TRUE(made.bound_is_exact);
    EXPECT_LE(made.bound, fewest);
    EXPECT_GE(made.steps(), fewest);
    at_the_bound += made.steps() == made.bound ? 1 : 0;
    best_possible += made.steps() == fewest ? 1 : 0;
  }
  EXPECT_GE(at_the_bound, 200);
  EXPECT_GE(best_possible, 270);
}

TEST(Schedule, FrontierIsNoWorseThanDepthOrAgendaOnNearlyAllRandomGraphs) {
  int no_worse = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const SmallGraph graph = random_dag(random, 300, static_cast<std::int32_t>(2 + random.below(6)), 30);
    const auto steps = [&](Strategy strategy) { return schedule(strategy, graph.view()).steps(); };
    no_worse += steps(Strategy::kFrontier) <= std::min(steps(Strategy::kDepth), steps(Strategy::kAgenda)) ? 1 : 0;
  }
  EXPECT_GE(no_worse, 95);
}

TEST(Schedule, SentimentTreesTakeNoMoreStepsThanTheBound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const SmallGraph graph = random_treebank(random, 64);
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    EXPECT_EQ(made.forced, 0) << "seed " << seed;
    EXPECT_GT(schedule(Strategy::kDepth, graph.view()).steps(), made.steps() * 3 / 2);
    EXPECT_GT(schedule(Strategy::kAgenda, graph.view()).steps(), made.steps() * 3 / 2);
  }
}

TEST(Schedule, WordLatticesTakeFewStepsBeyondTheBound) {
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const SmallGraph graph = random_lattices(random, 32);
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    ratios.push_back(static_cast<double>(made.steps()) / static_cast<double>(made.bound));
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[10], 1.15);
  EXPECT_LE(ratios.back(), 1.25);
}

TEST(Schedule, AChainOfAMillionNodesIsOrdinary) {
  SmallGraph graph;
  std::int32_t last = graph.add('a');
  for (int i = 1; i < 1'000'000; ++i) last = graph.add(i % 2, {last});
  const Schedule made = schedule(Strategy::kFrontier, graph.view());
  EXPECT_EQ(made.steps(), 1'000'000);
  EXPECT_EQ(made.forced, 0);
}

TEST(Schedule, ManyInterwovenSignaturesGiveABoundFromBelow) {
  Random random(7);
  const SmallGraph graph = random_dag(random, 2000, 200, 40);
  const Schedule made = schedule(Strategy::kFrontier, graph.view());
  EXPECT_FALSE(made.bound_is_exact);
  expect_right(graph.view(), made);
}

TEST(Schedule, AnEmptyGraphTakesNoStep) {
  const SmallGraph graph;
  for (Strategy strategy : kStrategies) EXPECT_EQ(schedule(strategy, graph.view()).steps(), 0);
}

}  // namespace
}  // namespace espalier::batch
