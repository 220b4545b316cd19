/// run_batched(): the same as each instance alone, in few steps and bounded memory.
#include "espalier/control/run_batched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/control/decoder.h"

namespace espalier {
namespace {

using testing::Decoder;
using testing::Start;
using testing::starts;

TEST(RunBatched, DecodesLikeEachAlone) {
  const Decoder decoder;
  const std::vector<Start> inputs = starts(40);
  const auto decode = [&](Graph& g, const Start& start) { return decoder.decode(g, start); };
  const auto together = run_batched(inputs, decode);
  ASSERT_EQ(together.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Graph g({.training = false});
    EXPECT_EQ(together[i], run_alone(g, decoder.decode(g, inputs[i])));
    EXPECT_LE(std::ssize(together[i]), inputs[i].most);
  }
}

TEST(RunBatched, AllInstancesThatWaitAreOneRun) {
  const Decoder decoder;
  const std::vector<Start> inputs(16, {1, 5});
  RunStatistics took;
  run_batched(inputs, [&](Graph& g, const Start& start) { return decoder.draw(g, start); }, {.statistics = &took});
  EXPECT_EQ(took.runs, 5);
  EXPECT_EQ(took.values, 5 * 16);
  EXPECT_EQ(took.instances, 16);
  EXPECT_EQ(took.most_in_flight, 16);
  EXPECT_EQ(took.graphs.runs, 5);
}

TEST(RunBatched, LimitsInstancesInFlight) {
  const Decoder decoder;
  const std::vector<Start> inputs = starts(50);
  const auto decode = [&](Graph& g, const Start& start) { return decoder.decode(g, start); };
  RunStatistics took;
  const auto few = run_batched(inputs, decode, {.in_flight = 3, .statistics = &took});
  EXPECT_EQ(took.most_in_flight, 3);
  EXPECT_EQ(took.instances, 50);
  EXPECT_EQ(few, run_batched(inputs, decode));
}

TEST(RunBatched, NothingToRun) {
  const Decoder decoder;
  EXPECT_TRUE(run_batched(std::vector<Start>{}, [&](Graph& g, const Start& start) {
                return decoder.decode(g, start);
              }).empty());
}

TEST(RunBatched, SamplesDependOnSeedStepAndInstanceAlone) {
  const Decoder decoder;
  const std::vector<Start> inputs = starts(30);
  const auto draw = [&](Graph& g, const Start& start) { return decoder.draw(g, start); };
  const auto all = run_batched(inputs, draw);
  EXPECT_EQ(all, run_batched(inputs, draw, {.in_flight = 1}));
  EXPECT_EQ(all, run_batched(inputs, draw, {.in_flight = 7, .graph_instances = 2}));
  EXPECT_NE(all, run_batched(inputs, draw, {.graph = {.seed = 5, .training = false}}));
  EXPECT_NE(all, run_batched(inputs, draw, {.graph = {.step = 5, .training = false}}));
  EXPECT_NE(all, run_batched(inputs, draw, {.first_key = 1000}));
  const std::vector<Start> seventh{inputs[7]};
  EXPECT_EQ(all[7], run_batched(seventh, draw, {.first_key = 7}).front());
}

Task<std::int64_t> draw_once(Graph& g, const std::vector<float>& scores) {
  const Expr row = g.input({static_cast<std::int64_t>(scores.size())}, scores);
  const std::int64_t drawn = co_await sample(row);
  co_return drawn;
}

TEST(RunBatched, SamplesFollowTheSoftmax) {
  constexpr int kDraws = 4000;
  const std::vector<std::vector<float>> inputs(kDraws, {0.0F, std::log(2.0F), std::log(5.0F), -1e30F});
  std::vector<double> counts(4);
  for (const std::int64_t drawn : run_batched(inputs, draw_once)) counts[static_cast<std::size_t>(drawn)] += 1;
  // Four standard deviations.
  EXPECT_NEAR(counts[0] / kDraws, 1.0 / 8, 0.021);
  EXPECT_NEAR(counts[1] / kDraws, 2.0 / 8, 0.028);
  EXPECT_NEAR(counts[2] / kDraws, 5.0 / 8, 0.031);
  EXPECT_EQ(counts[3], 0);
}

TEST(RunBatched, MemoryDoesNotGrowWithTheStream) {
  const Decoder decoder;
  const auto peak = [&](int instances) {
    RunStatistics took;
    int next = 0;
    int ended = 0;
    stream_batched(
        [&]() -> std::optional<Start> {
          if (next == instances) return std::nullopt;
          ++next;
          return Start{next % Decoder::kSymbols, 3 + 5 * next % 11};
        },
        [&](Graph& g, const Start& start) { return decoder.draw(g, start); },
        [&](std::int64_t, const Outcome<std::vector<std::int64_t>>& outcome) { ended += outcome.ok() ? 1 : 0; },
        {.in_flight = 32, .statistics = &took});
    EXPECT_EQ(ended, instances);
    EXPECT_LE(took.graphs_used, 4);
    return static_cast<double>(took.graphs.peak_bytes);
  };
  EXPECT_LT(peak(12'500), 1.3 * peak(125));
}

/// One instance that never ends holds its own graph, and nobody else's memory.
TEST(RunBatched, ASlowInstanceHoldsOneGraph) {
  const Decoder decoder;
  std::vector<Start> inputs(600, {1, 3});
  inputs[0].most = 400;
  RunStatistics took;
  run_batched(inputs, [&](Graph& g, const Start& start) { return decoder.draw(g, start); },
              {.in_flight = 4, .statistics = &took});
  EXPECT_LE(took.graphs_used, 3);
  EXPECT_EQ(took.instances, 600);
}

Task<std::int64_t> count_long(const Decoder& decoder, Graph& graph, int tokens, bool carries) {
  Graph* g = &graph;
  auto state = decoder.cell.initial(*g);
  std::int64_t total = 0;
  std::int64_t symbol = 1;
  for (int i = 0; i < tokens; ++i) {
    if (carries) g = &co_await carry(state.h, state.c);
    state = decoder.cell(decoder.symbols(*g, static_cast<std::int32_t>(symbol)), state);
    symbol = co_await sample(decoder.scores(state.h));
    total += (i + 1) * symbol;
  }
  co_return total;
}

TEST(RunBatched, CarriedValuesKeepLongInstancesSmall) {
  const Decoder decoder;
  const auto run = [&](int tokens, bool carries, RunStatistics& took) {
    return run_batched(std::vector<int>(2, tokens),
                       [&](Graph& g, int count) { return count_long(decoder, g, count, carries); },
                       {.statistics = &took});
  };
  RunStatistics with;
  RunStatistics without;
  EXPECT_EQ(run(20'000, true, with), run(20'000, false, without));
  EXPECT_LT(with.graphs.peak_bytes, without.graphs.peak_bytes / 3);
  RunStatistics longer;
  run(40'000, true, longer);
  EXPECT_LT(static_cast<double>(longer.graphs.peak_bytes), 1.1 * static_cast<double>(with.graphs.peak_bytes));
}

Task<double> sum_of_rows(Graph& graph, int seed) {
  std::vector<float> values;
  for (int i = 0; i < 6; ++i) values.push_back(static_cast<float>((seed + i) % 5));
  Graph* g = &graph;
  Expr rows = tanh(graph.rows({2}, values));
  double sum = 0;
  for (int turn = 0; turn < 3; ++turn) {
    g = &co_await carry(rows);
    EXPECT_EQ(&rows.graph(), g);
    EXPECT_EQ(rows.row_count(), 3);
    const Expr last = row(rows, 2);
    const Tensor value = co_await last;
    sum += value.at(0) + 2 * value.at(1);
  }
  co_return sum;
}

TEST(RunBatched, ManyRowsAreCarriedAsManyRows) {
  std::vector<int> seeds;
  for (int i = 0; i < 40; ++i) seeds.push_back(i);
  RunStatistics took;
  const std::vector<double> sums =
      run_batched(seeds, sum_of_rows, {.in_flight = 2, .graph_instances = 1, .statistics = &took});
  EXPECT_GT(took.carried, 0);
  Graph graph({.training = false});
  for (int i = 0; i < 40; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], run_alone(graph, sum_of_rows(graph, i)));
}

TEST(RunBatched, CarryStaysInAGivenGraph) {
  const Decoder decoder;
  Graph graph;
  run_alone(graph, count_long(decoder, graph, 50, true));
  EXPECT_GT(graph.size(), 50);
}

// --- when values are computed ----------------------------------------------------------------------------------------

TEST(RunWhen, ALimitOfValuesMakesSmallerRuns) {
  const Decoder decoder;
  const std::vector<Start> inputs(16, {1, 5});
  RunStatistics took;
  const auto draw = [&](Graph& g, const Start& start) { return decoder.draw(g, start); };
  const auto small = run_batched(inputs, draw, {.run_when = {.values = 4}, .statistics = &took});
  EXPECT_EQ(took.runs, 20);
  EXPECT_EQ(small, run_batched(inputs, draw));
}

Task<int> add_one(int x) { co_return x + 1; }

/// Goes on for a long time without asking for a value, beside one that asks for many.
Task<int> busy_or_asking(Graph& g, bool is_busy, int& asked, int& asked_at_end) {
  int sum = 0;
  if (is_busy) {
    for (int i = 0; i < 2000; ++i) sum = co_await add_one(sum);
    asked_at_end = asked;
    co_return sum;
  }
  for (; asked < 10; ++asked) co_await number(g.constant(asked) + g.constant(1));
  co_return asked;
}

TEST(RunWhen, AnInstanceThatDoesNotAskHoldsNobodyUp) {
  int asked = 0;
  int asked_at_end = -1;
  const auto run = [&](RunWhen when) {
    asked = 0;
    run_batched(std::vector<int>{0, 1}, [&](Graph& g, int i) { return busy_or_asking(g, i == 1, asked, asked_at_end); },
                {.run_when = when});
    return asked_at_end;
  };
  EXPECT_EQ(run({.values = 0, .resumptions = 100'000}), 0);
  EXPECT_EQ(run({.values = 0, .resumptions = 100}), 10);
}

// --- the end of a run ------------------------------------------------------------------------------------------------

Task<int> fails_third(Graph& g, int i) {
  const double x = co_await number(g.constant(i) + g.constant(0));
  if (x == 3) throw std::runtime_error("no third one");
  const double y = co_await number(g.constant(i) + g.constant(1));
  co_return static_cast<int>(y);
}

TEST(RunBatched, AnErrorNamesItsInstanceAndEndsTheRun) {
  const std::vector<int> inputs{0, 1, 2, 3, 4};
  try {
    run_batched(inputs, fails_third);
    FAIL();
  } catch (const InstanceError& error) {
    EXPECT_EQ(error.instance(), 3);
    EXPECT_STREQ(error.what(), "no third one\n  in instance 3 of the run");
    EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
  }
}

TEST(RunBatched, AnErrorDisturbsNoOtherInstance) {
  const std::vector<int> inputs{0, 1, 2, 3, 4};
  const std::vector<Outcome<int>> outcomes = try_run_batched(inputs, fails_third);
  for (int i = 0; i < 5; ++i) {
    const Outcome<int>& outcome = outcomes[static_cast<std::size_t>(i)];
    EXPECT_EQ(outcome.ok(), i != 3);
    EXPECT_TRUE(i == 3 || outcome.value() == i + 1);
  }
  EXPECT_THROW(static_cast<void>(outcomes[3].value()), InstanceError);
}

TEST(RunBatched, AnErrorBeforeTheFirstTaskNamesItsInstance) {
  const auto outcomes = try_run_batched(std::vector<int>{0, 1, 2}, [&](Graph& g, int i) {
    if (i == 1) throw DataError("it is odd");
    return fails_third(g, i);
  });
  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_FALSE(outcomes[1].ok());
  EXPECT_TRUE(outcomes[2].ok());
}

TEST(RunBatched, CancellingEndsAllInstances) {
  const Decoder decoder;
  std::stop_source source;
  std::vector<Start> inputs(6, {1, 1'000'000});
  inputs[5].most = 3;
  int runs = 0;
  const auto draw = [&](Graph& g, const Start& start) {
    if (++runs == 6) source.request_stop();
    return decoder.draw(g, start);
  };
  EXPECT_THROW(run_batched(inputs, draw, {.stop = source.get_token()}), RunEnded);
  const auto outcomes = try_run_batched(inputs, draw, {.stop = source.get_token()});
  for (const auto& outcome : outcomes) EXPECT_THROW(static_cast<void>(outcome.value()), RunEnded);
}

TEST(RunBatched, TheDeadlineKeepsWhatWasFinished) {
  using Clock = std::chrono::steady_clock;
  const Decoder decoder;
  std::vector<Start> inputs(6, {1, 1'000'000});
  inputs[2].most = 3;
  Clock::time_point now{};
  const auto outcomes = try_run_batched(inputs, [&](Graph& g, const Start& start) { return decoder.draw(g, start); },
                                        {.deadline = Clock::time_point{} + std::chrono::seconds(10), .clock = [&] {
                                           now += std::chrono::seconds(1);
                                           return now;
                                         }});
  for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(outcomes[i].ok(), i == 2);
  try {
    static_cast<void>(outcomes[0].value());
    FAIL();
  } catch (const RunEnded& ended) {
    EXPECT_EQ(ended.why(), RunEnded::Why::kDeadline);
  }
}

TEST(RunBatched, RefusesOptionsThatMakeNoSense) {
  const auto run = [](const RunOptions& options) { run_batched(std::vector<int>{0}, fails_third, options); };
  EXPECT_THROW(run({.in_flight = 0}), UsageError);
  EXPECT_THROW(run({.run_when = {.values = -1}}), UsageError);
  Graph graph;
  EXPECT_THROW(run_batched(graph, std::vector<int>{0}, fails_third, {.lanes = 2}), UsageError);
}

// --- training --------------------------------------------------------------------------------------------------------

/// A loss that depends on decisions: the symbol chosen goes in again.
Task<Expr> loss_of(const Decoder& decoder, Graph& g, Start start) {
  auto state = decoder.cell.initial(g);
  std::vector<Expr> losses;
  std::int64_t symbol = start.symbol;
  for (int i = 0; i < start.most; ++i) {
    state = decoder.cell(decoder.symbols(g, static_cast<std::int32_t>(symbol)), state);
    const Expr scores = decoder.scores(dropout(state.h, 0.3));
    losses.push_back(cross_entropy(scores, i % Decoder::kSymbols));
    symbol = co_await argmax(scores);
  }
  co_return sum(losses);
}

TEST(RunBatched, GradientsAreThoseOfEachAlone) {
  const Decoder decoder;
  const std::vector<Start> inputs = starts(12);
  Gradients together;
  Graph graph({.step = 1});
  const std::vector<Expr> losses =
      run_batched(graph, inputs, [&](Graph& g, const Start& start) { return loss_of(decoder, g, start); });
  sum(losses).backward({.into = &together, .wanted = {}});
  Gradients alone;
  double total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Graph g({.step = 1});
    const Expr loss =
        run_batched(g, std::vector<Start>{inputs[i]},
                    [&](Graph& of, const Start& start) { return loss_of(decoder, of, start); }, {.first_key = i})[0];
    loss.backward({.into = &alone, .wanted = {}});
    total += loss.scalar();
  }
  EXPECT_NEAR(sum(losses).scalar(), total, 1e-4 * total);
  for (const Parameter* parameter : decoder.model.parameters()) {
    ASSERT_NE(together.find(*parameter), nullptr);
    const Tensor a = together.find(*parameter)->to_tensor();
    const Tensor b = alone.find(*parameter)->to_tensor();
    for (std::int64_t i = 0; i < a.elements(); ++i) EXPECT_NEAR(a.at(i), b.at(i), 1e-4) << parameter->name();
  }
}

}  // namespace
}  // namespace espalier
