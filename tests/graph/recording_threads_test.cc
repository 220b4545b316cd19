/// Graphs in several threads record over the same parameters.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lookup.h"
#include "espalier/ops/tanh.h"

namespace espalier {
namespace {

constexpr int kThreads = 4;

template <class F>
void in_threads(const F& f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(f, t);
  for (std::thread& thread : threads) thread.join();
}

TEST(RecordingThreads, GraphsShareParameters) {
  const Parameter words("words", Tensor({10, 4}));
  const Parameter W("W", Tensor({4, 4}));
  std::atomic<int> right{0};
  in_threads([&](int t) {
    for (int round = 0; round < 20; ++round) {
      Graph graph;
      Expr x = lookup(graph, words, t);
      for (int i = 0; i < 100; ++i) x = tanh(linear(x, W));
      if (graph.size() == 2 + 1 + 200 && graph.signatures().size() == 5 && x.shape() == Shape{4}) ++right;
    }
  });
  EXPECT_EQ(right, kThreads * 20);
}

TEST(RecordingThreads, GraphsComeAndGoInAnyThread) {
  std::atomic<int> refused{0};
  in_threads([&](int) {
    for (int round = 0; round < 500; ++round) {
      Expr stale;
      {
        Graph graph;
        stale = graph.constant(1);
      }
      Graph graph;
      const Expr live = graph.constant(2);
      tanh(live);
      try {
        tanh(stale);
      } catch (const UsageError&) {
        ++refused;
      }
    }
  });
  EXPECT_EQ(refused, kThreads * 500);
}

TEST(RecordingThreads, ARefusalInOneThreadLeavesTheOthersAlone) {
  const Parameter W("W", Tensor({3, 4}));
  std::atomic<int> right{0};
  in_threads([&](int t) {
    Graph graph;
    const Expr x = graph.input(Tensor({t % 2 == 0 ? 3 : 5}));
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
      try {
        linear(x, W);
      } catch (const UsageError&) {
        ++refused;
      }
    }
    if (t % 2 == 0 ? refused == 0 && graph.size() == 202 : refused == 200 && graph.size() == 1) ++right;
  });
  EXPECT_EQ(right, kThreads);
}

}  // namespace
}  // namespace espalier
