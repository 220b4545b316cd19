/// Every strategy gives a right schedule on every graph, and frontier keeps its promise about the bound.
#include "espalier/batch/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <vector>

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

/// No two signatures depend on each other: a node uses nodes of its own signature and of those before it.
SmallGraph random_ranked_dag(Random& random, std::int32_t size, std::int32_t signatures) {
  SmallGraph graph;
  std::vector<std::int32_t> rank(static_cast<std::size_t>(signatures));  // so that the order is not that of the numbers
  std::iota(rank.begin(), rank.end(), 0);
  random.shuffle(std::span<std::int32_t>(rank));
  std::vector<std::int32_t> of;
  for (std::int32_t v = 0; v < size; ++v) {
    const auto signature = static_cast<std::int32_t>(random.below(signatures));
    std::vector<std::int32_t> inputs;
    for (std::int64_t tries = random.below(6); tries > 0 && v > 0; --tries) {
      const auto input = static_cast<std::int32_t>(random.below(v));
      if (rank[static_cast<std::size_t>(of[static_cast<std::size_t>(input)])] <=
          rank[static_cast<std::size_t>(signature)])
        inputs.push_back(input);
    }
    of.push_back(signature);
    graph.add(signature, inputs);
  }
  return graph;
}

TEST(Schedule, FrontierNeedsNoStepBeyondTheBoundWhereNoTwoSignaturesDependOnEachOther) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed, 7);
    const auto size = static_cast<std::int32_t>(1 + random.below(seed % 2 == 0 ? 12 : 400));
    // More than 256 signatures are kept account of in another way.
    const SmallGraph graph = random_ranked_dag(random, size, seed % 10 == 0 ? 300 : 1 + static_cast<int>(seed % 9));
    const Schedule made = schedule(Strategy::kFrontier, graph.view());
    ASSERT_NO_FATAL_FAILURE(expect_right(graph.view(), made)) << "seed " << seed;
    ASSERT_EQ(made.forced, 0) << "seed " << seed;
    ASSERT_TRUE(made.bound_is_exact);
    ASSERT_EQ(made.bound, schedule(Strategy::kDepth, graph.view()).bound) << "seed " << seed << ", counted otherwise";
    if (size <= 12) {
      ASSERT_EQ(made.steps(), fewest_steps(graph.view())) << "seed " << seed;
    }
  }
}

TEST(Schedule, IsRightForEveryStrategyOnRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
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
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
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

/// The sum over signatures of the most nodes of it on any path, with a counter for every node and signature.
std::int64_t bound_by_counting_all(const Graph& graph) {
  const auto signatures = static_cast<std::size_t>(graph.signatures);
  std::vector<std::vector<std::int64_t>> most(graph.signature.size(), std::vector<std::int64_t>(signatures, 0));
  std::vector<std::int64_t> largest(signatures, 0);
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    std::vector<std::int64_t>& mine = most[static_cast<std::size_t>(v)];
    for (std::int32_t input : graph.inputs_of(v))
      for (std::size_t s = 0; s < signatures; ++s)
        mine[s] = std::max(mine[s], most[static_cast<std::size_t>(input)][s]);
    ++mine[static_cast<std::size_t>(graph.signature[static_cast<std::size_t>(v)])];
    for (std::size_t s = 0; s < signatures; ++s) largest[s] = std::max(largest[s], mine[s]);
  }
  return std::accumulate(largest.begin(), largest.end(), std::int64_t{0});
}

// Signatures come in groups of one to six, one group after the other, so paths pass through several of them.
TEST(Schedule, TheBoundIsExactWhereSeveralGroupsOfSignaturesDependOnEachOther) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    const auto groups = static_cast<std::int32_t>(seed % 20 == 0 ? 100 : 1 + random.below(6));
    SmallGraph graph;
    std::int32_t first = 0;
    for (std::int32_t g = 0; g < groups; ++g) {
      const auto members = static_cast<std::int32_t>(1 + random.below(6));
      for (std::int64_t left = 1 + random.below(40); left > 0; --left) {
        std::vector<std::int32_t> inputs;
        for (std::int64_t i = graph.size() == 0 ? 0 : random.below(4); i > 0; --i)
          inputs.push_back(graph.size() - 1 - static_cast<std::int32_t>(random.below(std::min(graph.size(), 30))));
        graph.add(first + static_cast<std::int32_t>(random.below(members)), inputs);
      }
      first += members;
    }
    for (Strategy strategy : kStrategies) {
      const Schedule made = schedule(strategy, graph.view());
      expect_right(graph.view(), made);
      EXPECT_TRUE(made.bound_is_exact);
      EXPECT_EQ(made.bound, bound_by_counting_all(graph.view()));
    }
  }
}

TEST(Schedule, DoesNotDependOnWhatWasScheduledBefore) {
  Random random(3);
  const SmallGraph small = random_dag(random, 50, 5, 10);
  const SmallGraph tangled = random_dag(random, 3000, 90, 100);
  const SmallGraph large = random_dag(random, 600'000, 7, 1000);
  const std::array graphs{&large, &small, &tangled, &small, &large};
  for (Strategy strategy : kStrategies) {
    const Schedule first = schedule(strategy, small.view());
    for (const SmallGraph* graph : graphs) {
      const Schedule made = schedule(strategy, graph->view());
      if (graph != &small) continue;
      EXPECT_EQ(made.order, first.order);
      EXPECT_EQ(made.step_begin, first.step_begin);
      EXPECT_EQ(made.bound, first.bound);
      EXPECT_EQ(made.bound_is_exact, first.bound_is_exact);
    }
  }
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
