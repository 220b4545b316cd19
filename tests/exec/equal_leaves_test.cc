/// Equal inputs and constants: Memoise::kAll computes from them once.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

constexpr int kTimes = 1000;

/// The nodes that are computed for kTimes equal computations of a constant and an input, and their sum.
std::int64_t computed_nodes(Memoise memoise, bool read_midway) {
  Graph graph({.memoise = memoise});
  std::vector<Expr> all;
  for (int i = 0; i < kTimes; ++i) {
    all.push_back(tanh(graph.constant({2}, 0.5) * graph.input({2}, {1, 2})));
    if (read_midway && i == kTimes / 2) all.back().value();
  }
  const Expr total = sum(all);
  EXPECT_NEAR(total.value().at(0), kTimes * std::tanh(0.5), 1e-2);
  EXPECT_NEAR(total.value().at(1), kTimes * std::tanh(1.0), 1e-2);
  return graph.statistics().nodes;
}

TEST(EqualLeaves, AreComputedFromOnceWithAll) {
  for (const bool read_midway : {false, true}) {
    EXPECT_EQ(computed_nodes(Memoise::kAll, read_midway), 3);
    EXPECT_EQ(computed_nodes(Memoise::kLookups, read_midway), 2 * kTimes + 1);
    EXPECT_EQ(computed_nodes(Memoise::kOff, read_midway), 2 * kTimes + 1);
  }
}

TEST(EqualLeaves, AreThoseWithTheSameBitsAndShape) {
  Graph graph({.memoise = Memoise::kAll});
  const std::vector<Expr> all{tanh(graph.constant({2}, 0.0)),     tanh(graph.constant({2}, -0.0)),
                              tanh(graph.input({1, 2}, {0, 0})),  tanh(graph.input({2}, {0, 1})),
                              tanh(graph.input({2}, {0.0, 0.0})), tanh(graph.constant({2}, 0.0, DType::kFloat64))};
  graph.finish(all);
  EXPECT_EQ(graph.statistics().merged, 1);
  EXPECT_TRUE(std::signbit(all[1].value().at(0)));
}

TEST(EqualLeaves, ThatAreWantedHaveGradientsOfTheirOwn) {
  for (const bool read_before : {false, true}) {
    Graph graph({.memoise = Memoise::kAll});
    const Expr a = graph.input({2}, {1, 2});
    const Expr b = graph.input({2}, {1, 2});
    const Expr c = graph.input({2}, {1, 2});
    const Expr loss = sum(a * a + 3 * b + tanh(c) + tanh(b), 0);
    if (read_before) loss.value();
    loss.backward({.wanted = {b}});
    const double slope = 1 - std::tanh(1.0) * std::tanh(1.0);
    EXPECT_NEAR(b.grad().at(0), 3 + slope, 1e-5);
    loss.backward({.wanted = {a, c}});
    EXPECT_NEAR(a.grad().at(0), 2, 1e-5);
    EXPECT_NEAR(c.grad().at(0), slope, 1e-5);
  }
}

}  // namespace
}  // namespace espalier
