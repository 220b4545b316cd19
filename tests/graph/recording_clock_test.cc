/// Seconds of recording, by a clock that the test moves.
#include <gtest/gtest.h>

#include <cstdint>

#include "espalier/graph/graph.h"
#include "espalier/ops/tanh.h"

namespace espalier {
namespace {

std::int64_t test_time = 0;
std::int64_t time_of_test() { return test_time; }

class RecordingTime : public ::testing::Test {
 protected:
  void SetUp() override { RecordingClock::set_source(&time_of_test); }
  void TearDown() override { RecordingClock::set_source(nullptr); }

  static void pass(std::int64_t seconds) { test_time += seconds * 1'000'000'000; }
  static double recording(const Graph& graph) { return graph.statistics().seconds.recording; }
};

TEST_F(RecordingTime, IsFromTheFirstNodeToTheRun) {
  Graph graph;
  pass(1000);  // nothing is recorded yet
  const Expr x = graph.constant(1);
  pass(3);
  const Expr y = tanh(x);
  pass(4);  // the caller's own work counts
  y.value();
  EXPECT_DOUBLE_EQ(recording(graph), 7);
}

TEST_F(RecordingTime, GoesOnWithTheNextNodeAfterARun) {
  Graph graph;
  const Expr x = graph.constant(1);
  pass(1);
  x.value();
  pass(1000);
  x.value();  // computed before
  pass(1000);
  const Expr y = tanh(x);
  pass(2);
  y.backward();
  EXPECT_DOUBLE_EQ(recording(graph), 3);
  pass(1000);
  graph.finish({tanh(y)});
  EXPECT_DOUBLE_EQ(recording(graph), 3);
}

TEST_F(RecordingTime, OfAClearedGraphBeginsWithItsFirstNode) {
  Graph graph;
  graph.constant(1).value();
  pass(1000);
  graph.clear();
  EXPECT_EQ(recording(graph), 0);
  pass(1000);  // idle
  const Expr x = graph.constant(1);
  pass(5);
  x.value();
  EXPECT_DOUBLE_EQ(recording(graph), 5);
}

TEST_F(RecordingTime, LeavesOutTheTimeBetweenRecordingAndRunningIfToldSo) {
  Graph graph;
  const Expr x = graph.constant(1);
  pass(2);
  graph.stop_recording();
  pass(1000);  // another graph runs
  x.value();
  EXPECT_DOUBLE_EQ(recording(graph), 2);
}

}  // namespace
}  // namespace espalier
