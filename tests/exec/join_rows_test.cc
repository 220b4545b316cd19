/// join_rows: rows seen as fewer and longer ones, which costs nothing.
#include "espalier/ops/join_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"
#include "tests/support/refusal.h"

namespace espalier::join_rows_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Net {
  Model model{5};
  nn::Linear first{model / "first", 3, 4};
  nn::Linear second{model / "second", 8, 2};
  nn::Linear third{model / "third", 4, 1};
  nn::Linear of_leaves{model / "of_leaves", 6, 2};

  Expr rows(Graph& graph, const std::vector<float>& x) const { return tanh(first(graph.rows({3}, x))); }
};

std::vector<float> random_numbers(std::mt19937& random, std::size_t count) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random() % 100) / 50 - 1;
  return numbers;
}

std::vector<float> numbers_in(const Tensor& tensor) { return {tensor.as<float>().begin(), tensor.as<float>().end()}; }

TEST(JoinRows, PutsRowsSideBySide) {
  Graph graph;
  const Expr x = graph.rows({2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const Expr joined = join_rows(x, 2);
  EXPECT_EQ(joined.row_count(), 2);
  EXPECT_EQ(joined.shape(), Shape({4}));
  EXPECT_THAT(numbers_in(joined.value()), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(numbers_in(row(joined, 1).value()), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(join_rows(x, 4).shape(), Shape({8}));
}

TEST(JoinRows, AgreesWithTheTwinWhoeverElseReadsTheRows) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const Net net;
    std::vector<std::vector<float>> instances;
    for (int i = 0; i < 4; ++i) instances.push_back(random_numbers(random, 6 * (1 + random() % 4)));
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (const std::vector<float>& x : instances) {
        graph.begin_instance();
        const Expr leaf = graph.rows({3}, x);
        inputs.push_back(leaf);
        const Expr rows = tanh(net.first(leaf));
        const Expr joined = join_rows(rows, 2);
        if (seed % 2 == 0) inputs.push_back(joined);  // its own gradient is wanted: it has rows of its own then
        losses.push_back(sum({sum(net.second(joined), 0)}));
        if (seed % 3 > 0) losses.push_back(sum({sum(net.third(rows), 0)}));
        if (seed % 3 > 1) losses.push_back(sum({sum(joined * joined, 0)}));
        if (seed % 4 > 1) losses.push_back(sum({sum(net.of_leaves(join_rows(leaf, 2)), 0)}));
        if (seed % 5 > 2) losses.push_back(sum({sum(net.second(join_rows(join_rows(rows, 1), 2)), 0)}));
      }
      return sum(losses);
    });
  }
}

TEST(JoinRows, IsNoStepAndCopiesNothing) {
  std::mt19937 random(1);
  const Net net;
  Graph graph;
  std::vector<Expr> losses;
  for (int i = 0; i < 3; ++i) {
    graph.begin_instance();
    losses.push_back(sum({sum(net.second(join_rows(net.rows(graph, random_numbers(random, 12)), 2)), 0)}));
  }
  sum(losses).backward();
  EXPECT_EQ(graph.statistics().views, 3);
  EXPECT_EQ(graph.statistics().bytes_copied, 0);
  EXPECT_EQ(graph.statistics().steps, 6);  // first, tanh, second, sums of columns, of rows, of all
}

TEST(JoinRows, RefusesWhatDoesNotDivide) {
  Graph graph;
  const Expr x = graph.rows({2}, std::vector<float>(6));
  EXPECT_THAT(testing::refusal_of([&] { join_rows(x, 2); }),
              HasSubstr("join_rows: the 3 rows of x are no multiple of 2\n  at "));
  EXPECT_THAT(testing::refusal_of([&] { join_rows(x, 0); }),
              HasSubstr("join_rows: the 3 rows of x are no multiple of 0\n  at "));
  EXPECT_THAT(testing::refusal_of([&] { join_rows(graph.input({2}, std::vector<float>(2)), 1); }),
              HasSubstr("join_rows: x is a single row\n  at "));
}

}  // namespace
}  // namespace espalier::join_rows_tests
