/// The same graph has the same plan, and so the same bits, whatever its Graph recorded and ran before.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"

namespace espalier {
namespace {

class SamePlan : public testing::SmallModel {
 protected:
  using State = std::array<Expr, 2>;
  using Step = Cell<State(Expr, Expr, Expr)>;
  using Use = std::function<Expr(const State&)>;  // of the end of a chain: a loss

  Step step{cell("step", [this](Expr x, Expr h, Expr c) {
    const Expr gate = sigmoid(affine(h, W, b) + x);
    const Expr memory = gate * c + tanh(x);
    return State{tanh(memory) * gate, memory};
  })};

  static Expr number(Graph& graph, int seed) {
    Tensor values({kWidth});
    for (std::int64_t i = 0; i < kWidth; ++i) values.set(i, static_cast<double>((seed * 7 + i * 5) % 11) / 6 - 0.8);
    return graph.input(values);
  }
  /// Chains of different lengths that meet in pairs; a sum of losses.
  Expr record(Graph& graph, const Use& use) const {
    std::vector<Expr> losses;
    State other{number(graph, 1), number(graph, 2)};
    for (int chain = 0; chain < 13; ++chain) {
      graph.begin_instance();
      State state{chain % 3 == 0 ? other[0] : number(graph, chain), number(graph, chain + 1)};
      for (int i = 0; i < 1 + chain * 5 % 7; ++i) state = step(number(graph, chain + i), state[0], state[1]);
      losses.push_back(use(state));
      other = state;
    }
    return sum(losses);
  }
  std::vector<Use> uses() const {
    return {[](const State& end) { return sum(end[0], 0); }, [](const State& end) { return sum(end[0] * end[1], 0); },
            [this](const State& end) { return sum(tanh(linear(end[1], V)), 0); },
            [this](const State& end) { return sum(tanh(linear(end[0], V)), 0) + sum(end[1], 0); },
            [](const State& end) {
              return sum(tanh(concat({end[1], end[0]})), 0);
            }};
  }

  /// All numbers of a minibatch, and what its plan looks like.
  struct Outcome {
    std::vector<Tensor> numbers;
    std::vector<std::int64_t> counts;
    bool operator==(const Outcome&) const = default;
  };
  Outcome run(Graph& graph, const Use& use) const {
    Gradients gradients;
    const Expr loss = record(graph, use);
    loss.backward({.into = &gradients, .wanted = {}});
    Outcome outcome;
    outcome.numbers.push_back(loss.value());
    for (const Gradient* gradient : gradients.all()) outcome.numbers.push_back(gradient->to_tensor());
    const Statistics statistics = graph.statistics();
    outcome.counts = {statistics.steps, statistics.nodes, statistics.views, statistics.bytes_copied};
    return outcome;
  }
};

TEST_F(SamePlan, DoesNotDependOnTheMinibatchesBefore) {
  const std::vector<Use> all = uses();
  for (const Strategy strategy : testing::kStrategies)
    for (std::size_t now = 0; now < all.size(); ++now) {
      Graph fresh({.strategy = strategy});
      const Outcome expected = run(fresh, all[now]);
      for (std::size_t before = 0; before < all.size(); ++before) {
        Graph graph({.strategy = strategy});
        run(graph, all[before]);
        graph.clear();
        EXPECT_TRUE(run(graph, all[now]) == expected) << name_of(strategy) << ": " << now << " after " << before;
      }
    }
}

TEST_F(SamePlan, DoesNotDependOnValuesThatWereReadInAMinibatchBefore) {
  const auto values_of = [&](Graph& graph) {
    std::vector<Tensor> numbers;
    std::vector<State> ends;
    record(graph, [&](const State& end) {
      ends.push_back(end);
      return sum(end[0], 0);
    });
    graph.finish({ends.back()[0]});
    numbers.push_back(ends.back()[0].value());
    return std::pair(numbers, graph.statistics().peak_bytes);
  };
  Graph fresh;
  const auto expected = values_of(fresh);
  Graph graph;
  std::vector<Expr> memories;
  record(graph, [&](const State& end) {
    memories.push_back(end[1]);
    return sum(end[0], 0);
  });
  graph.finish(memories);
  graph.clear();
  EXPECT_EQ(values_of(graph), expected);
}

}  // namespace
}  // namespace espalier
