/// finish() reads what was looked up where its table is; values that outlive the run have memory of their own.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/lstm.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"
#include "tests/support/budget.h"

namespace espalier {
namespace {

class LookupsInTables : public testing::SmallModel {
 protected:
  std::vector<float> row_of_table(std::int32_t row) const {
    const std::span<const float> all = table.value().as<float>();
    return {all.begin() + row * kWidth, all.begin() + (row + 1) * kWidth};
  }
  static std::vector<float> numbers(const Expr& expr) {
    const Tensor value = expr.value();
    return {value.as<float>().begin(), value.as<float>().end()};
  }
  static void expect_like(const Expr& given, const Expr& expected) {
    const std::vector<float> g = numbers(given);
    const std::vector<float> e = numbers(expected);
    ASSERT_EQ(g.size(), e.size());
    for (std::size_t k = 0; k < g.size(); ++k) EXPECT_NEAR(g[k], e[k], 2e-5);
  }
  static void expect_like(std::span<const Expr> given, std::span<const Expr> expected) {
    ASSERT_EQ(given.size(), expected.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      SCOPED_TRACE(i);
      expect_like(given[i], expected[i]);
    }
  }
  void change_table() {
    for (float& number : table.mutable_value().as<float>()) number += 1;
  }

  inline static const GraphOptions kEach{.memoise = Memoise::kOff};
};

TEST_F(LookupsInTables, TakeNoStepAndAreNotCopied) {
  constexpr std::array kRows{4, 1, 4, 8};
  Graph graph(kEach);
  std::vector<Expr> outputs;
  for (const std::int32_t row : kRows) outputs.push_back(tanh(lookup(graph, table, row)));
  graph.finish(outputs);
  EXPECT_EQ(graph.statistics().steps, 1);
  EXPECT_EQ(graph.statistics().nodes, 4);
  EXPECT_EQ(graph.statistics().views, 4);
  Graph twin({.execution = Execution::kPlain});
  std::vector<Expr> expected;
  for (const std::int32_t row : kRows) expected.push_back(tanh(lookup(twin, table, row)));
  expect_like(outputs, expected);
}

TEST_F(LookupsInTables, EqualOnesAreMergedAllTheSame) {
  Graph graph;
  const Expr a = tanh(lookup(graph, table, 3));
  const Expr same = tanh(lookup(graph, table, 3));
  graph.finish({a, same});
  EXPECT_EQ(graph.statistics().nodes, 1);
  EXPECT_EQ(graph.statistics().merged, 2);
  EXPECT_EQ(numbers(a), numbers(same));
}

TEST_F(LookupsInTables, AnOutputHasMemoryOfItsOwn) {
  for (const bool is_sliced : {false, true}) {
    const std::vector<float> before = row_of_table(2);
    Graph graph;
    const Expr x = lookup(graph, table, 2);
    const Expr output = is_sliced ? slice(x, 1, 4) : x;
    const Expr other = tanh(lookup(graph, table, 2));
    graph.finish({output, other});
    const std::vector<float> expected = is_sliced ? std::vector<float>(before.begin() + 1, before.begin() + 4) : before;
    change_table();
    EXPECT_EQ(numbers(output), expected);
  }
}

TEST_F(LookupsInTables, AKeptOneHasMemoryOfItsOwn) {
  const std::vector<float> before = row_of_table(5);
  Graph graph;
  const Expr first = tanh(lookup(graph, table, 5));
  const Expr x = lookup(graph, table, 5);  // computed as the one before it
  graph.keep(x);
  graph.finish({first, tanh(x)});
  change_table();
  EXPECT_EQ(numbers(x), before);
}

TEST_F(LookupsInTables, OthersAreGoneBehindTheRun) {
  Graph graph;
  const Expr x = lookup(graph, table, 5);
  const Expr part = slice(x, 0, 2);
  graph.finish({tanh(x), tanh(part)});
  EXPECT_EQ(numbers(x), row_of_table(5));  // computed anew
  Graph changed;
  const Expr y = lookup(changed, table, 5);
  const Expr of_y = slice(y, 0, 2);
  changed.finish({tanh(y), tanh(of_y)});
  change_table();
  EXPECT_THROW(y.value(), UsageError);
  EXPECT_THROW(of_y.value(), UsageError);
}

TEST_F(LookupsInTables, OfABudgetThatDividesTheRunAreGoneToo) {
  const auto finish = [&](Graph& graph) {
    std::vector<Expr> outputs;
    Expr x;
    for (std::int32_t i = 0; i < 40; ++i) {
      graph.begin_instance();
      x = lookup(graph, table, i % 9);
      outputs.push_back(tanh(linear(tanh(linear(x, W)), V)));
    }
    graph.finish(outputs);
    return x;
  };
  Graph unlimited;
  finish(unlimited);
  Graph graph({.memory_budget = testing::budget_of(unlimited.statistics(), 50)});
  const Expr x = finish(graph);
  EXPECT_GT(graph.statistics().parts, 0);
  change_table();
  EXPECT_THROW(x.value(), UsageError);
}

TEST_F(LookupsInTables, ReadByManyOpsGiveWhatTheTwinGives) {
  const auto record = [&](Graph& graph) {
    std::vector<Expr> outputs;
    for (std::int32_t i = 0; i < 7; ++i) {
      graph.begin_instance();
      const Expr a = lookup(graph, table, i);
      const Expr c = lookup(graph, table, (3 * i) % 9);
      outputs.push_back(linear(concat({slice(a, 0, 3), slice(c, 3, 6)}, 0), W));
      outputs.push_back(affine(a, V, b) * c);
      outputs.push_back(sum({a, c, a}));
      outputs.push_back(tanh(rows({a, outputs[0], c})));
    }
    return outputs;
  };
  Graph twin({.execution = Execution::kPlain});
  const std::vector<Expr> expected = record(twin);
  for (const Strategy strategy : testing::kStrategies)
    for (const Memoise memoise : {Memoise::kOff, Memoise::kLookups, Memoise::kAll}) {
      Graph graph({.strategy = strategy, .memoise = memoise});
      const std::vector<Expr> given = record(graph);
      graph.finish(given);
      expect_like(given, expected);
    }
}

/// Recursions over rows that are looked up, that are computed from such, and that are given.
TEST_F(LookupsInTables, OfManyRowsAreReadThereByRecursions) {
  const nn::BiLstm lstm(model / "lstm", kWidth, 4);
  std::mt19937 random(3);
  const auto draw = [&](std::uint32_t below) { return static_cast<std::int32_t>(random() % below); };
  std::vector<std::vector<std::int32_t>> sentences(9);
  for (std::vector<std::int32_t>& sentence : sentences)
    for (std::int32_t n = 1 + draw(6); n > 0; --n) sentence.push_back(draw(9));
  for (const bool is_mixed : {false, true}) {
    const auto record = [&](Graph& graph) {
      std::vector<Expr> outputs;
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        graph.begin_instance();
        const Expr x = lookup_rows(graph, table, sentences[i]);
        const Expr of_x = !is_mixed || i % 3 == 0 ? x : i % 3 == 1 ? tanh(x) : graph.rows({kWidth}, row_of_table(1));
        outputs.push_back(lstm.rows(of_x));
      }
      return outputs;
    };
    Graph graph;
    Graph twin({.execution = Execution::kPlain});
    const std::vector<Expr> given = record(graph);
    const std::vector<Expr> expected = record(twin);
    graph.finish(given);
    // What tanh reads lies one row behind the other: it is computed.
    EXPECT_EQ(graph.statistics().steps, is_mixed ? 3 : 1);
    expect_like(given, expected);
  }
}

TEST_F(LookupsInTables, OfManyRowsAreComputedWhereOthersReadThemToo) {
  const nn::BiLstm lstm(model / "lstm", kWidth, 4);
  const std::vector<std::int32_t> words{3, 1, 4, 1, 5};
  Graph graph;
  const Expr x = lookup_rows(graph, table, words);
  const Expr states = lstm.rows(x);
  const Expr joined = tanh(join_rows(x, 5));
  const Expr last = tanh(row(x, 4));
  graph.finish({states, joined, last});
  Graph twin({.execution = Execution::kPlain});
  const Expr same = lookup_rows(twin, table, words);
  expect_like(joined, tanh(join_rows(same, 5)));
  expect_like(last, tanh(row(same, 4)));
  expect_like(states, lstm.rows(same));
}

TEST_F(LookupsInTables, OfManyRowsAreReadThereAfterAnEarlierRunToo) {
  const nn::BiLstm lstm(model / "lstm", kWidth, 4);
  const std::vector<std::int32_t> words{3, 1, 4};
  Graph graph;
  tanh(lookup(graph, table, 1)).value();
  const Expr x = lookup_rows(graph, table, words);
  const Expr states = lstm.rows(x);
  graph.finish({states});
  EXPECT_EQ(graph.statistics().steps, 2 + 1);  // a lookup and tanh of it; then the recursion
  Graph fresh;
  const Expr alone = lstm.rows(lookup_rows(fresh, table, words));
  fresh.finish({alone});
  EXPECT_EQ(fresh.statistics().steps, 1);
  EXPECT_EQ(numbers(states), numbers(alone));
}

}  // namespace
}  // namespace espalier
