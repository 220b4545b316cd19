/// A rule of one's own: the schedule that follows from its steps, and the steps that are refused.
#include "espalier/batch/own_strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/batch/small_graph.h"
#include "tests/support/refusal.h"

namespace espalier::batch {
namespace {

using testing::refusal_of;

OwnStrategy giving(std::vector<std::int32_t> steps) {
  return {"mine", [steps = std::move(steps)](const Graph&) { return steps; }};
}

/// a0 and a1, b2 of a0, b3 of a1.
SmallGraph two_pairs() {
  SmallGraph graph;
  graph.add('a');
  graph.add('a');
  graph.add('b', {0});
  graph.add('b', {1});
  return graph;
}

/// Distance from the sources, then the signature.
std::vector<std::int32_t> by_depth(const Graph& graph) {
  std::vector<std::int32_t> depth(graph.signature.size());
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    for (const std::int32_t input : graph.inputs_of(v))
      depth[static_cast<std::size_t>(v)] =
          std::max(depth[static_cast<std::size_t>(v)], depth[static_cast<std::size_t>(input)] + 1);
  }
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    auto& step = depth[static_cast<std::size_t>(v)];
    step = step * graph.signatures + graph.signature[static_cast<std::size_t>(v)];
  }
  return depth;
}

TEST(OwnStrategy, RunsStepsInTheOrderOfTheirNumbers) {
  const SmallGraph graph = two_pairs();
  EXPECT_EQ(graph.text(giving({0, 0, 7, 7}).schedule(graph.view())), "a2 b2");
  const Schedule apart = giving({3, 0, 9, 1}).schedule(graph.view());
  EXPECT_EQ(graph.text(apart), "a1 b1 a1 b1");
  EXPECT_EQ(apart.order, (std::vector<std::int32_t>{1, 3, 0, 2}));
  EXPECT_EQ(apart.bound, 2);
  EXPECT_EQ(apart.forced, 2);
  EXPECT_EQ(giving({}).schedule(SmallGraph().view()).steps(), 0);
}

TEST(OwnStrategy, ThatIsDepthSchedulesAsDepth) {
  const OwnStrategy own("by depth", &by_depth);
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const SmallGraph graph = random_dag(random, 1 + static_cast<std::int32_t>(random.below(60)), 4, 9);
    const Schedule expected = schedule(Strategy::kDepth, graph.view());
    const Schedule given = own.schedule(graph.view());
    ASSERT_EQ(given.order, expected.order);
    ASSERT_EQ(given.step_begin, expected.step_begin);
    ASSERT_EQ(given.bound, expected.bound);
  }
}

TEST(OwnStrategy, RefusesStepsThatAreNoSchedule) {
  const SmallGraph graph = two_pairs();
  const auto refusal = [&](std::vector<std::int32_t> steps) {
    return refusal_of([&] { static_cast<void>(giving(std::move(steps)).schedule(graph.view())); });
  };
  EXPECT_EQ(refusal({0, 0, 1}), "strategy \"mine\": it gives steps for 3 nodes, and the graph has 4");
  EXPECT_EQ(refusal({0, -2, 1, 1}), "strategy \"mine\": node 1 is in step -2; steps count from 0");
  EXPECT_EQ(refusal({0, 2, 1, 2}),
            "strategy \"mine\": node 3 is in step 2, and its input 1 in step 2, which is not earlier");
  EXPECT_EQ(refusal({0, 1, 1, 2}),
            "strategy \"mine\": nodes 1 and 2 are in step 1, and their signatures are 0 and 1; a step has one");
}

}  // namespace
}  // namespace espalier::batch
