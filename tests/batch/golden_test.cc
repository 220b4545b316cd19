/// Schedules of small graphs, written out: a changed line is to be reviewed like code.
#include <gtest/gtest.h>

#include "espalier/batch/schedule.h"
#include "tests/batch/small_graph.h"

namespace espalier::batch {
namespace {

std::string frontier(const SmallGraph& graph) { return graph.text(schedule(Strategy::kFrontier, graph.view())); }

TEST(GoldenSchedule, IndependentNodesOfOneKindAreOneStep) {
  SmallGraph graph;
  for (int i = 0; i < 3; ++i) graph.add('a');
  EXPECT_EQ(frontier(graph), "a3");
}

TEST(GoldenSchedule, EqualChainsRunSideBySide) {
  SmallGraph graph;
  graph.chain("abc");
  graph.chain("abc");
  EXPECT_EQ(frontier(graph), "a2 b2 c2");
}

// B's b must wait for A's: running it at once would leave A's b alone later.
TEST(GoldenSchedule, AShorterChainWaitsForALonger) {
  SmallGraph graph;
  graph.chain("aba");
  graph.chain("ba");
  EXPECT_EQ(frontier(graph), "a1 b2 a2");
}

// The heads (c) of all nodes wait until the last cell has run: they hold nothing up.
TEST(GoldenSchedule, HeadsOfAllNodesAreOneStepAtTheEnd) {
  SmallGraph graph;
  const std::int32_t left = graph.add('a');
  const std::int32_t right = graph.add('a');
  const std::int32_t low = graph.add('b', {left, right});
  const std::int32_t top = graph.add('b', {low, graph.add('a')});
  for (std::int32_t node : {left, right, low, top}) graph.add('c', {node});
  EXPECT_EQ(frontier(graph), "a3 b1 b1 c4");
}

// The deep tree starts first; the shallow one joins where it still can.
TEST(GoldenSchedule, AShallowTreeJoinsADeepOneLate) {
  SmallGraph graph;
  graph.chain("abbbb");
  graph.chain("abb");
  EXPECT_EQ(frontier(graph), "a2 b2 b2 b1 b1");
}

// What has further to go is first, counted by kinds: both a and b have all of d behind them. Of those that are as far,
// the larger is first, then the earlier.
TEST(GoldenSchedule, IndependentKindsRunInTheOrderOfTheirWayToTheEnd) {
  SmallGraph graph;
  graph.chain("ad");
  graph.chain("bdd");
  graph.chain("ce");
  graph.chain("fe");
  graph.chain("fe");
  EXPECT_EQ(frontier(graph), "a1 b1 d2 d1 f2 c1 e3");
}

// Depth takes both chains level by level, and so runs the same kind twice.
TEST(GoldenSchedule, DepthSplitsWhatFrontierJoins) {
  SmallGraph graph;
  graph.chain("aba");
  graph.chain("ba");
  EXPECT_EQ(graph.text(schedule(Strategy::kDepth, graph.view())), "a1 b1 a1 b1 a1");
  EXPECT_EQ(frontier(graph), "a1 b2 a2");
}

// Most heads (c) sit on leaves, so their mean depth is below that of the cells (b): agenda runs them as they come.
TEST(GoldenSchedule, AgendaRunsHeadsOnEveryLevelWhereFrontierWaits) {
  SmallGraph graph;
  std::int32_t last = 0;
  for (int i = 0; i < 4; ++i) {
    last = graph.add('a');
    graph.add('c', {last});
  }
  for (int i = 0; i < 3; ++i) {
    last = graph.add('b', {last});
    graph.add('c', {last});
  }
  EXPECT_EQ(graph.text(schedule(Strategy::kAgenda, graph.view())), "a4 c4 b1 c1 b1 c1 b1 c1");
  EXPECT_EQ(frontier(graph), "a4 b1 b1 b1 c7");
}

// Both kinds wait for each other: whichever runs first must run again, so one step is forced.
TEST(GoldenSchedule, CrossedChainsForceAStep) {
  SmallGraph graph;
  graph.chain("ab");
  graph.chain("ba");
  const Schedule made = schedule(Strategy::kFrontier, graph.view());
  EXPECT_EQ(made.bound, 2);
  EXPECT_EQ(made.forced, 1);
  EXPECT_EQ(graph.text(made), "a1 b2 a1");
}

// A node used twice by one node waits for it once, and is counted once on the path.
TEST(GoldenSchedule, ANodeUsedTwiceIsOneNode) {
  SmallGraph graph;
  const std::int32_t x = graph.add('a');
  graph.add('b', {x, x});
  EXPECT_EQ(frontier(graph), "a1 b1");
}

// A value used much later needs nothing on the way: there are no steps that pass it on.
TEST(GoldenSchedule, AValueUsedMuchLaterAddsNoStep) {
  SmallGraph graph;
  const std::int32_t first = graph.add('a');
  const std::int32_t last = graph.chain("bbbbbb");
  graph.add('c', {first, last});
  EXPECT_EQ(schedule(Strategy::kFrontier, graph.view()).steps(), 8);
}

TEST(GoldenSchedule, NoneRunsInTheOrderOfRecording) {
  SmallGraph graph;
  graph.chain("ab");
  graph.chain("ab");
  EXPECT_EQ(graph.text(schedule(Strategy::kNone, graph.view())), "a1 b1 a1 b1");
}

}  // namespace
}  // namespace espalier::batch
