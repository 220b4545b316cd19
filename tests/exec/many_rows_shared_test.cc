/// Ops of many rows with an operand that is made from parameters alone: every row reads that one row, and its gradient
/// is the sum over all rows.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"

namespace espalier::many_rows_shared {
namespace {

constexpr std::int32_t kSize = 5;

class ManyRowsAndParameters : public ::testing::Test {
 protected:
  /// Of each op, as many rows as x has.
  using Op = std::function<Expr(const Expr& x, const Expr& p)>;

  void expect_agree(const Op& op) {
    for (const bool is_derived : {false, true}) {
      SCOPED_TRACE(is_derived ? "derived" : "a parameter");
      testing::expect_cells_agree(model_, [&](Graph& graph, std::vector<Expr>& inputs) {
        std::vector<Expr> losses;
        for (const std::size_t rows : {3, 1, 6}) {
          graph.begin_instance();
          std::vector<float> numbers;
          for (std::size_t i = 0; i < rows * kSize; ++i) numbers.push_back(static_cast<float>(i % 7) / 4 - 0.8F);
          inputs.push_back(graph.rows({kSize}, numbers));
          const Expr p = graph.parameter(p_);
          losses.push_back(sum({sum_elements(tanh(op(inputs.back(), is_derived ? tanh(p) : p)))}));
        }
        return sum(losses);
      });
    }
  }

  Model model_{5};
  Parameter& p_ = model_.add("p", {kSize}, init::uniform(-1, 1));
};

TEST_F(ManyRowsAndParameters, AreReadBySideAndOneAboveTheOther) {
  expect_agree([](const Expr& x, const Expr& p) { return concat({x, p}); });
  expect_agree([](const Expr& x, const Expr& p) { return concat({p, x, p}); });
  expect_agree([](const Expr& x, const Expr& p) { return stack({p, x}); });
}

TEST_F(ManyRowsAndParameters, AreCompared) {
  expect_agree([](const Expr& x, const Expr& p) { return mse(x, p); });
  expect_agree([](const Expr& x, const Expr& p) { return squared_distance(p, x); });
  expect_agree([](const Expr& x, const Expr& p) { return huber(x, p, 0.7); });
}

TEST_F(ManyRowsAndParameters, AreMultiplied) {
  expect_agree([](const Expr& x, const Expr& p) { return dot(x, p); });
  expect_agree([](const Expr& x, const Expr& p) { return dot(p, x); });
  expect_agree([](const Expr& x, const Expr& p) { return x * p + p; });
  expect_agree([](const Expr& x, const Expr& p) { return lstm_output(x, p); });
}

/// A node that is recorded like an earlier one must not take its number of rows.
TEST_F(ManyRowsAndParameters, MayFollowSingleRows) {
  testing::expect_cells_agree(model_, [&](Graph& graph, std::vector<Expr>&) {
    const std::vector<float> numbers{1, 2, 3, 4, 5, -1, 0, 1, -2, 2};
    std::vector<Expr> losses;
    for (int time = 0; time < 3; ++time) {
      losses.push_back(dot(graph.input({kSize}, std::span(numbers).first(kSize)), p_));
      losses.push_back(sum({dot(graph.rows({kSize}, numbers), p_)}));
      losses.push_back(sum({dot(graph.rows({kSize}, std::span(numbers).first(kSize)), p_)}));
    }
    return sum(losses);
  });
}

/// Labels for each row say how many rows there are.
TEST_F(ManyRowsAndParameters, HaveLabelsOfTheirOwn) {
  testing::expect_cells_agree(model_, [&](Graph& graph, std::vector<Expr>&) {
    const std::vector<std::int32_t> labels{1, 4, 0};
    return sum({cross_entropy_rows(tanh(graph.parameter(p_)), labels)});
  });
}

}  // namespace
}  // namespace espalier::many_rows_shared
