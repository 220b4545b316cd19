/// Random programs, each drawn from a seed, whose control flow depends on the values that they compute: batched in
/// every way, they take the same decisions as alone, and have the same values and gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/control/run_batched.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

constexpr std::int32_t kSize = 5;

struct Network {
  std::unique_ptr<Model> model = std::make_unique<Model>(11);
  nn::GruCell cell{*model / "cell", kSize, kSize};
  nn::Linear first{*model / "first", kSize, kSize};
  nn::Linear second{*model / "second", kSize, kSize};
  nn::Linear scores{*model / "scores", kSize, 4};
};

/// What a program did: its decisions, and a loss over the way it took.
struct Trace {
  std::vector<std::int64_t> decisions;
  Expr loss;
  double value = 0;
};

/// One program, run by one instance.
class RandomProgram {
 public:
  RandomProgram(const Network& net, Graph& graph, std::uint64_t seed) : net_(net), graph_(graph), random_(seed) {}

  Task<Trace> run() {
    Expr h = draw_input();
    const std::int64_t steps = 1 + random_.below(7);
    for (std::int64_t i = 0; i < steps; ++i) h = co_await step(h, 3);
    trace_.loss = losses_.empty() ? dot(h, h) : sum(losses_) + dot(h, h);
    trace_.value = co_await number(trace_.loss);
    co_return trace_;
  }

 private:
  Expr draw_input() {
    std::vector<float> values;
    for (std::int32_t i = 0; i < kSize; ++i) values.push_back(static_cast<float>(random_.normal()));
    return graph_.input({kSize}, values);
  }
  void decide(std::int64_t what) { trace_.decisions.push_back(what); }

  /// What follows is drawn from the seed, and chosen by a value: the program draws the same as alone only if it decided
  /// the same.
  Task<Expr> step(Expr h, int depth) {
    switch (random_.below(depth > 0 ? 7 : 4)) {
      case 0: co_return tanh(net_.first(h));
      case 1: {
        const std::int64_t choice = co_await argmax(net_.scores(h));
        decide(choice);
        losses_.push_back(cross_entropy(net_.scores(h), static_cast<std::int32_t>(choice)));
        if (choice < 2) co_return net_.cell(draw_input(), h);
        co_return tanh(net_.second(h));
      }
      case 2: {
        const std::int64_t choice = co_await sample(net_.scores(h));
        decide(choice);
        Expr next = h;
        for (std::int64_t i = 0; i < choice; ++i) next = net_.cell(next, h);
        co_return dropout(next, 0.25);
      }
      case 3: {
        const Expr length = dot(h, h);
        if (co_await number(length) > 2) co_return scale(h, 0.5);
        co_return tanh(net_.first(h));
      }
      case 4: {  // tasks at once; one draws after the other
        const Expr left = tanh(net_.first(h));
        const auto [a, b] = co_await when_all(settle(left), settle(tanh(net_.second(h))));
        co_return a + b;
      }
      case 5: {
        const Expr deeper = co_await step(h, depth - 1);
        co_return co_await step(deeper, depth - 1);
      }
      default: {  // until a value says so
        Expr next = h;
        for (int i = 0; i < 6; ++i) {
          next = net_.cell(h, next);
          const Tensor seen = co_await next;
          if (seen.at(0) < seen.at(1)) break;
          decide(i);
        }
        co_return next;
      }
    }
  }
  /// Draws nothing: two of it run side by side.
  Task<Expr> settle(Expr h) {
    Expr next = h;
    for (int i = 0; i < 3; ++i) {
      next = tanh(net_.second(next));
      const double norm = co_await number(dot(next, next));
      if (norm < 0.3) break;
    }
    co_return next;
  }

  const Network& net_;
  Graph& graph_;
  Random random_;
  Trace trace_;
  std::vector<Expr> losses_;
};

Task<Trace> run_program(const Network& net, Graph& graph, std::uint64_t seed) {
  RandomProgram program(net, graph, seed);
  co_return co_await program.run();
}

struct Result {
  std::vector<Trace> traces;
  Gradients gradients;
};

Result run_all(const Network& net, const std::vector<std::uint64_t>& seeds, GraphOptions graph_options,
               RunOptions options) {
  graph_options.step = 3;
  Result result;
  Graph graph(graph_options);
  result.traces = run_batched(
      graph, seeds, [&](Graph& of, std::uint64_t seed) { return run_program(net, of, seed); }, options);
  std::vector<Expr> losses;
  for (const Trace& trace : result.traces) losses.push_back(trace.loss);
  sum(losses).backward({.into = &result.gradients, .wanted = {}});
  return result;
}

void expect_alike(const Network& net, const Result& together, const Result& alone) {
  ASSERT_EQ(together.traces.size(), alone.traces.size());
  for (std::size_t i = 0; i < alone.traces.size(); ++i) {
    EXPECT_EQ(together.traces[i].decisions, alone.traces[i].decisions);
    EXPECT_NEAR(together.traces[i].value, alone.traces[i].value, 1e-4 * (1 + std::abs(alone.traces[i].value)));
  }
  for (const Parameter* parameter : net.model->parameters()) {
    const Gradient* a = together.gradients.find(*parameter);
    const Gradient* b = alone.gradients.find(*parameter);
    ASSERT_EQ(a == nullptr, b == nullptr);
    if (a == nullptr) continue;
    const Tensor x = a->to_tensor();
    const Tensor y = b->to_tensor();
    double largest = 0;
    for (std::int64_t i = 0; i < y.elements(); ++i) largest = std::max(largest, std::abs(y.at(i)));
    for (std::int64_t i = 0; i < x.elements(); ++i) EXPECT_NEAR(x.at(i), y.at(i), 2e-4 * (1 + largest));
  }
}

class RandomPrograms : public ::testing::TestWithParam<int> {};

TEST_P(RandomPrograms, DoTheSameBatchedAsAlone) {
  const Network net;
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < 24; ++i) seeds.push_back(1000 * static_cast<std::uint64_t>(GetParam()) + i);
  SCOPED_TRACE("seeds from " + std::to_string(seeds[0]));
  Result alone;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    Result one = run_all(net, {seeds[i]}, {}, {.first_key = i});
    alone.traces.push_back(one.traces[0]);
    alone.gradients.add(one.gradients);
  }
  expect_alike(net, run_all(net, seeds, {}, {}), alone);
  expect_alike(net, run_all(net, seeds, {}, {.in_flight = 3}), alone);
  expect_alike(net, run_all(net, seeds, {}, {.run_when = {.values = 5}}), alone);
  expect_alike(net, run_all(net, seeds, {}, {.run_when = {.values = 0, .resumptions = 7}}), alone);
  expect_alike(net, run_all(net, seeds, {.strategy = Strategy::kAgenda}, {}), alone);
  expect_alike(net, run_all(net, seeds, {.execution = Execution::kPlain}, {}), alone);

  // In graphs of the run, one after the other.
  std::vector<std::vector<std::int64_t>> decisions =
      run_batched(seeds,
                  [&](Graph& of, std::uint64_t seed) -> Task<std::vector<std::int64_t>> {
                    const Trace trace = co_await run_program(net, of, seed);
                    co_return trace.decisions;
                  },
                  {.graph = {.step = 3}, .in_flight = 4, .graph_instances = 3});
  for (std::size_t i = 0; i < seeds.size(); ++i) EXPECT_EQ(decisions[i], alone.traces[i].decisions);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(0, 25));

}  // namespace
}  // namespace espalier
