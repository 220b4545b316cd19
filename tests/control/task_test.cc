/// Task: what may be awaited, in any depth, and what is refused.
#include "espalier/control/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "espalier/control/run_batched.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "tests/support/small_stack.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a task alone throws, as text.
template <class MakeTask>
std::string refusal_of(const MakeTask& make) {
  Graph graph;
  try {
    run_batched(graph, std::vector<int>{0}, [&](Graph& g, int) { return make(g); });
  } catch (const InstanceError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Task<Tensor> ask(Expr expr) { co_return co_await expr; }
Task<double> ask_number(Expr expr) {
  const double asked = co_await number(expr);
  co_return asked;
}
Task<> check_scores(Graph& g, std::vector<float> scores, std::int64_t best) {
  const Expr row = g.input({static_cast<std::int64_t>(scores.size())}, scores);
  EXPECT_EQ(co_await argmax(row), best);
}

TEST(Task, AwaitsValues) {
  Graph g;
  const Tensor value = run_alone(g, ask(tanh(g.constant({2}, 0.5))));
  EXPECT_FLOAT_EQ(static_cast<float>(value.at(1)), std::tanh(0.5F));
  EXPECT_EQ(run_alone(g, ask_number(g.constant(2) + g.constant(1))), 3);
  run_alone(g, check_scores(g, {1, 5, 2}, 1));
  run_alone(g, check_scores(g, {-1, -1}, 0));
  EXPECT_EQ(run_alone(g, ask(g.rows({1}, std::vector<float>{1, 2, 3}))).shape(), Shape({3, 1}));
}

TEST(Task, ValuesInDoublePrecision) {
  Graph g({.dtype = DType::kFloat64});
  EXPECT_DOUBLE_EQ(run_alone(g, ask_number(exp(g.constant(1)))), std::exp(1.0));
  const Expr row = g.input(Tensor::from({3}, std::vector<double>{1, 2, 3}));
  const auto best = [](Expr scores) -> Task<std::int64_t> { co_return co_await argmax(scores); };
  EXPECT_EQ(run_alone(g, best(row)), 2);
}

Task<std::unique_ptr<int>> make_pointer(int x) { co_return std::make_unique<int>(x); }
Task<std::string> join_texts(Graph& g) {
  const std::vector<float> scores{0, 1};
  auto [a, b, nothing] = co_await when_all(make_pointer(3), ask_number(g.constant(4)), check_scores(g, scores, 1));
  std::vector<Task<std::unique_ptr<int>>> more;
  for (int i = 0; i < 4; ++i) more.push_back(make_pointer(i));
  std::string text = std::to_string(*a) + " " + std::to_string(static_cast<int>(b));
  for (const auto& each : co_await when_all(std::move(more))) text += " " + std::to_string(*each);
  co_await when_all(std::vector<Task<>>{});
  co_return text;
}

TEST(Task, AwaitsSeveralTasksAtOnce) {
  Graph g;
  EXPECT_EQ(run_alone(g, join_texts(g)), "3 4 0 1 2 3");
}

Task<double> tree_sum(Graph& g, int height) {
  if (height == 0) co_return co_await number(tanh(g.constant(1)));
  const auto [left, right] = co_await when_all(tree_sum(g, height - 1), tree_sum(g, height - 1));
  co_return co_await number(g.constant(left) + g.constant(right));
}

TEST(Task, TasksOfOneInstanceWaitTogether) {
  Graph g;
  RunStatistics took;
  const auto result = run_batched(g, std::vector<int>{5, 5}, [](Graph& of, int height) { return tree_sum(of, height); },
                                  {.statistics = &took});
  EXPECT_NEAR(result[0], 32 * std::tanh(1.0), 1e-4);
  EXPECT_EQ(took.runs, 6);  // one for each height
  EXPECT_EQ(took.values, 2 * 63);
}

// --- depth -----------------------------------------------------------------------------------------------------------

Task<std::int64_t> chain(Graph& g, std::int64_t left, bool throws) {
  if (left > 0) co_return 1 + co_await chain(g, left - 1, throws);
  if (throws) throw std::runtime_error("at the bottom");
  const double zero = co_await number(g.constant(0) + g.constant(0));
  co_return static_cast<std::int64_t>(zero);
}

TEST(Task, AMillionTasksNeedNoStack) {
  testing::on_8_megabytes([] {
    Graph g;
    EXPECT_EQ(run_alone(g, chain(g, 1'000'000, false)), 1'000'000);
  });
}

TEST(Task, AMillionTasksEndBeforeTheirTime) {
  testing::on_8_megabytes([] {
    RunOptions options;
    std::stop_source source;
    options.stop = source.get_token();
    const auto outcomes = try_run_batched(
        std::vector<int>{0},
        [&](Graph& g, int) {
          source.request_stop();  // seen when the innermost asks for its value
          return chain(g, 100'000, false);
        },
        options);
    EXPECT_THROW(static_cast<void>(outcomes[0].value()), RunEnded);
    Graph g;
    EXPECT_THROW(run_alone(g, chain(g, 100'000, true)), InstanceError);
  });
}

Task<int> one(int x) { co_return x; }
Task<int> count_in_a_loop(int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) sum += co_await one(1);
  co_return sum;
}
TEST(Task, AMillionTasksOneAfterTheOther) {
  testing::on_8_megabytes([] {
    Graph g;
    EXPECT_EQ(run_alone(g, count_in_a_loop(1'000'000)), 1'000'000);
  });
}

// --- exceptions ------------------------------------------------------------------------------------------------------

Task<int> throws(const char* text) {
  throw std::runtime_error(text);
  co_return 0;
}
Task<int> catches(Graph& g) {
  int caught = 0;
  try {
    co_await throws("first");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
    ++caught;
  }
  try {
    co_await when_all(one(1), throws("second"), throws("third"));
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "second");
    ++caught;
  }
  try {
    const Expr refused = linear(g.constant({2}, 1), g.constant({3, 3}, 1));  // where it is recorded
    co_await refused;
  } catch (const UsageError&) {
    ++caught;
  }
  co_return caught;
}
TEST(Task, RethrowsWhatATaskThrows) {
  Graph g;
  EXPECT_EQ(run_alone(g, catches(g)), 3);
}

// --- misuse ----------------------------------------------------------------------------------------------------------

Task<> forgets(int& ran) {
  const auto forgotten = [](int& count) -> Task<> {
    ++count;
    co_return;
  };
  Task<> never = forgotten(ran);
  co_return;
}
TEST(Task, OneThatIsNeverAwaitedIsRefused) {
  int ran = 0;
  EXPECT_THAT(refusal_of([&](Graph&) { return forgets(ran); }), HasSubstr("task: one was made and never awaited"));
  EXPECT_EQ(ran, 0);
}

Task<> awaits_twice() {
  Task<int> task = one(1);
  co_await task;
  co_await task;
}
Task<> awaits_moved() {
  Task<int> task = one(1);
  Task<int> other = std::move(task);
  co_await other;
  co_await task;  // NOLINT(bugprone-use-after-move)
}
TEST(Task, OneIsAwaitedOnce) {
  EXPECT_THAT(refusal_of([](Graph&) { return awaits_twice(); }), HasSubstr("task: it was awaited before"));
  EXPECT_THAT(refusal_of([](Graph&) { return awaits_moved(); }), HasSubstr("or moved away"));
}

Task<> asks_other(Expr other) { co_await number(other); }
TEST(Task, AnExprOfAnotherGraphIsRefused) {
  Graph other;
  const Expr foreign = tanh(other.constant(1));
  EXPECT_THAT(refusal_of([&](Graph&) { return asks_other(foreign); }), HasSubstr("belongs to another graph"));
}

TEST(Task, AnExprOfAnEarlierRunIsRefused) {
  Expr kept;
  const auto keep_one = [&](Graph& g, int) -> Task<> {
    kept = tanh(g.constant(1));
    co_await kept;
  };
  run_batched(std::vector<int>{0}, keep_one);
  EXPECT_THAT(refusal_of([&](Graph&) { return asks_other(kept); }), HasSubstr("cleared"));
}

TEST(Task, AnIndexOfManyRowsIsRefused) {
  const auto ask_rows = [](Graph& g) -> Task<> {
    const std::vector<float> values{1, 2, 3, 4};
    const Expr rows = g.rows({2}, values);
    co_await argmax(rows);
  };
  EXPECT_THAT(refusal_of(ask_rows), HasSubstr("argmax: one row of scores is expected"));
}

// --- faults of g++ 12 that are hard to meet --------------------------------------------------------------------------

/// Counts how often it is destroyed.
struct Counted {
  explicit Counted(int& count) : destroyed(&count) {}
  Counted(Counted&& other) noexcept : destroyed(std::exchange(other.destroyed, nullptr)) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (destroyed != nullptr) ++*destroyed;
  }
  int* destroyed;
};
Task<int> takes(Counted counted) { co_return *counted.destroyed; }
Task<> passes_temporaries(Graph& g, int& destroyed) {
  EXPECT_EQ(co_await takes(Counted(destroyed)), 0);
  EXPECT_EQ(destroyed, 1);
  co_await when_all(takes(Counted(destroyed)), takes(Counted(destroyed)));
  EXPECT_EQ(destroyed, 3);
  co_await number(g.constant(1) + g.constant(2));
  const auto named = [&destroyed](int more) -> Task<int> { co_return destroyed + more; };
  EXPECT_EQ(co_await named(1), 4);
}
TEST(Task, TemporariesOfAwaitExpressionsAreDestroyedOnce) {
  Graph g;
  int destroyed = 0;
  run_alone(g, passes_temporaries(g, destroyed));
  EXPECT_EQ(destroyed, 3);
}

}  // namespace
}  // namespace espalier
