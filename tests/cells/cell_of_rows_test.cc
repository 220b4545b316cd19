/// Cells of many rows whose functions use lists: a cell computes each row by itself, in every way of recording it.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"

namespace espalier::cells_of_rows {
namespace {

struct Net {
  Model model{3};
  nn::Linear linear{model / "linear", 4, 4};
  Cell<std::pair<Expr, Expr>(Expr, Expr)> sums{"sums", [this](Expr x, Expr y) {
                                                 const Expr s = sum({x, y, linear(x)});
                                                 return std::pair(tanh(s), mean({s, x * y}));
                                               }};
  Cell<Expr(Expr, Expr)> nested{"nested", [this](Expr x, Expr y) {
                                  const auto [a, b] = sums(x, y);
                                  return max({a, b - 3});
                                }};
  Cell<Expr(Expr, Expr)> drops{"drops", [this](Expr x, Expr y) { return sum({dropout(x, 0.5), dropout(y, 0.5)}); }};
};

std::vector<float> numbers(std::int32_t rows) {
  std::vector<float> result;
  for (std::int32_t i = 0; i < 4 * rows; ++i) result.push_back(static_cast<float>(i * i % 11) / 5 - 1);
  return result;
}

TEST(CellOfRows, UsesListsRowByRow) {
  const Net net;
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    for (const std::int32_t rows : {1, 3, 5}) {
      graph.begin_instance();
      inputs.push_back(graph.rows({4}, numbers(rows)));
      const Expr x = inputs.back();
      const auto [a, b] = net.sums(x, tanh(x));
      const Expr c = net.nested(a, b);
      EXPECT_EQ(a.row_count(), rows);
      EXPECT_EQ(c.row_count(), rows);
      losses.push_back(sum({sum_elements(a * b), sum_elements(c)}));
    }
    return sum(losses);
  });
}

TEST(CellOfRows, HasAsManyRowsInFloat64) {
  Net net;
  net.model.to(DType::kFloat64);
  Graph graph({.dtype = DType::kFloat64});
  EXPECT_EQ(net.sums(graph.rows({4}, numbers(3)), graph.rows({4}, numbers(3))).second.row_count(), 3);
}

TEST(CellOfRows, DrawsTheSameRandomNumbers) {
  const Net net;
  const auto values_of = [&](const GraphOptions& options) {
    Graph graph(options);
    const Expr single = net.drops(graph.input({4}, numbers(1)), graph.input({4}, numbers(1)));
    const Expr x = graph.rows({4}, numbers(6));
    const Expr many = net.drops(x, x);
    return std::pair(single.value(), many.value());
  };
  EXPECT_EQ(values_of({.seed = 2, .step = 1}), values_of({.seed = 2, .step = 1, .execution = Execution::kPlain}));
  EXPECT_EQ(values_of({.seed = 2, .step = 1}), values_of({.seed = 2, .step = 1, .expand_cells = true}));
}

}  // namespace
}  // namespace espalier::cells_of_rows
