/// Results of a cell but the first: whatever is done with them, numbers and gradients are those of the plain function.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"

namespace espalier {
namespace {

using testing::asymmetric_sum;
using testing::expect_cells_agree;

class FurtherResults : public testing::SmallModel {
 protected:
  using State = std::array<Expr, 3>;
  using Step = Cell<State(Expr, Expr, Expr, Expr)>;

  /// Of a state h, a memory c and a third that nobody needs to read; the state is the first of the results.
  State step(const Expr& x, const Expr& h, const Expr& c, const Expr& d) const {
    const Expr gate = sigmoid(affine(h, W, b) + x);
    const Expr memory = gate * c + tanh(x);
    return {tanh(memory) * gate, memory, square(d) * gate};
  }
  Step first_is_state() const {
    return cell("step", [this](Expr x, Expr h, Expr c, Expr d) { return step(x, h, c, d); });
  }

  static Expr input(Graph& graph, int number) {
    Tensor values({kWidth});
    for (std::int64_t i = 0; i < kWidth; ++i) values.set(i, static_cast<double>((number * 5 + i * 3) % 7) / 4 - 0.8);
    return graph.input(values);
  }
  /// Chains of 1 to 4 steps; gives the last states.
  static std::vector<State> chains(Graph& graph, const Step& step, std::vector<Expr>& inputs) {
    std::vector<State> ends;
    for (int length = 1; length <= 4; ++length) {
      graph.begin_instance();
      State state{input(graph, 1), input(graph, 2), input(graph, 3)};
      for (int i = 0; i < length; ++i) {
        inputs.push_back(input(graph, length + i));
        state = step(inputs.back(), state[0], state[1], state[2]);
      }
      ends.push_back(state);
    }
    return ends;
  }
  /// The sum of what `use` makes of each end.
  template <class Use>
  testing::LossOf loss_of(const Step& step, const Use& use) const {
    return [&step, use](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (const State& end : chains(graph, step, inputs)) losses.push_back(asymmetric_sum(use(end)));
      return sum(losses);
    };
  }
};

TEST_F(FurtherResults, AgreeWithThePlainFunctionWhateverIsDoneWithThem) {
  const Step step = first_is_state();
  const auto agree = [&](const auto& use) { expect_cells_agree(model, loss_of(step, use)); };
  agree([](const State& end) { return end[0]; });
  agree([](const State& end) { return end[1]; });
  agree([](const State& end) { return end[0] * end[1] + end[2]; });
  agree([&](const State& end) { return linear(end[1], V); });
  agree([&](const State& end) { return affine(end[0] + end[2], V, b) * linear(end[2], W); });
  agree([](const State& end) { return concat({end[1], end[0], end[2]}); });
  agree([](const State& end) { return concat({end[1], end[1]}); });
  agree([](const State& end) { return slice(end[1], 1, 3); });
  agree([](const State& end) { return concat({slice(end[2], 0, 2), slice(end[1], 2, 4)}); });
  agree([](const State& end) { return sum({end[0], end[1], end[1], end[2]}); });
}

TEST_F(FurtherResults, AreReadBehindEveryKindOfRun) {
  const Step step = first_is_state();
  for (const Strategy strategy : testing::kStrategies) {
    Graph plain({.execution = Execution::kPlain});
    std::vector<Expr> unused;
    const std::vector<State> expected = chains(plain, step, unused);
    const auto expect_near = [&](const Expr& actual, const Expr& wanted) {
      const Tensor a = actual.value();
      const Tensor w = wanted.value();
      ASSERT_EQ(a.shape(), w.shape());
      for (std::int64_t i = 0; i < a.elements(); ++i) EXPECT_NEAR(a.at(i), w.at(i), 1e-5) << name_of(strategy);
    };
    const auto with = [&](const auto& act) {
      Graph graph({.strategy = strategy});
      std::vector<Expr> inputs;
      const std::vector<State> ends = chains(graph, step, inputs);
      act(graph, ends);
      for (std::size_t i = 0; i < ends.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) expect_near(ends[i][k], expected[i][k]);
      // The same graph once more: what was asked for before is known.
      graph.clear();
      const std::vector<State> again = chains(graph, step, inputs);
      act(graph, again);
      for (std::size_t i = 0; i < ends.size(); ++i) expect_near(again[i][1], expected[i][1]);
    };
    with([](Graph&, const std::vector<State>&) {});
    with([](Graph&, const std::vector<State>& ends) { static_cast<void>(ends[3][0].value()); });
    with([](Graph& graph, const std::vector<State>& ends) { graph.finish({ends[3][0]}); });
    with([](Graph& graph, const std::vector<State>& ends) { graph.finish({ends[3][1], ends[2][0]}); });
    with([](Graph& graph, const std::vector<State>& ends) {
      graph.keep(ends[1][1]);
      graph.finish({ends[3][0]});
    });
    with([&](Graph& graph, const std::vector<State>& ends) {
      const Expr part = slice(ends[3][1], 1, 3);
      graph.finish({part});
      const Tensor whole = expected[3][1].value();
      for (std::int64_t i = 0; i < 2; ++i) EXPECT_NEAR(part.value().at(i), whole.at(1 + i), 1e-5);
    });
    with([&](Graph&, const std::vector<State>& ends) {
      Gradients gradients;
      sum(ends[3][0] * ends[2][1], 0).backward({.into = &gradients, .wanted = {ends[1][1]}});
    });
  }
}

TEST_F(FurtherResults, TheGradientOfOneMayBeWanted) {
  const Step step = first_is_state();
  const auto gradient_in = [&](Execution execution) {
    Graph graph({.execution = execution});
    State state{input(graph, 1), input(graph, 2), input(graph, 3)};
    std::vector<State> states;
    for (int i = 0; i < 3; ++i) states.push_back(state = step(input(graph, i), state[0], state[1], state[2]));
    Gradients gradients;
    sum(state[0] + state[2], 0).backward({.into = &gradients, .wanted = {states[1][1], states[0][2]}});
    std::vector<Tensor> found{states[1][1].grad(), states[0][2].grad()};
    return found;
  };
  const std::vector<Tensor> expected = gradient_in(Execution::kPlain);
  const std::vector<Tensor> actual = gradient_in(Execution::kKernels);
  for (std::size_t k = 0; k < expected.size(); ++k)
    for (std::int64_t i = 0; i < kWidth; ++i) EXPECT_NEAR(actual[k].at(i), expected[k].at(i), 1e-5);
}

// It is not written where it is read, as a first one would be: a cell gathers it, and no step is added.
TEST_F(FurtherResults, OneThatIsMultipliedIsGathered) {
  const auto memory_first = cell("step", [this](Expr x, Expr c, Expr h) -> std::pair<Expr, Expr> {
    const Expr gate = sigmoid(affine(h, W, b) + x);
    const Expr memory = gate * c;
    return {memory, tanh(memory)};
  });
  for (int time = 0; time < 2; ++time) {
    Graph graph;
    std::vector<Expr> losses;
    for (int chain = 0; chain < 3; ++chain) {
      std::pair<Expr, Expr> state{input(graph, chain), input(graph, chain + 1)};
      for (int i = 0; i < 3; ++i) state = memory_first(input(graph, i), state.first, state.second);
      losses.push_back(sum(state.second, 0));
    }
    Gradients gradients;
    sum(losses).backward({.into = &gradients, .wanted = {}});
    EXPECT_EQ(graph.statistics().bytes_copied, 0);
    EXPECT_EQ(graph.statistics().steps, 3 + 1 + 1);
  }
}

}  // namespace
}  // namespace espalier
