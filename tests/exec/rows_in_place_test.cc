/// row(): one of many rows is read where it is, and has its gradient there; nothing runs for it.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"

namespace espalier::rows_in_place {
namespace {

constexpr std::int32_t kWidth = 6;

struct Net {
  Model model{4};
  nn::Embedding words{model / "words", 7, kWidth};
  nn::Linear layer{model / "layer", kWidth, kWidth};
  nn::LstmCell lstm{model / "lstm", kWidth, kWidth};
};

class RowsInPlace : public ::testing::Test {
 protected:
  /// Nodes of many rows, made in some way.
  Expr draw_rows(Graph& graph) {
    const std::int32_t count = 1 + draw(5);
    std::vector<std::int32_t> words;
    std::vector<Expr> list;
    std::vector<float> numbers;
    for (std::int32_t r = 0; r < count; ++r) {
      words.push_back(draw(7));
      list.push_back(tanh(net.words(graph, words.back())));
      for (std::int32_t i = 0; i < kWidth; ++i) numbers.push_back(static_cast<float>(draw(20)) / 10 - 1);
    }
    switch (draw(7)) {
      case 0: return graph.rows({kWidth}, numbers);
      case 1: return net.words.rows(graph, words);
      case 2: return rows(list);
      case 3: return tanh(net.layer(net.words.rows(graph, words)));
      case 4: return net.lstm.rows(net.words.rows(graph, words)).c;
      case 5:
        return slice(join_rows(rows({net.words.rows(graph, words), graph.rows({kWidth}, numbers)}), 2), 3, 3 + kWidth);
      default: return join_rows(slice(net.lstm.rows(graph.rows({kWidth}, numbers)).h, 0, kWidth), 1);
    }
  }
  /// Uses of single rows, each in another way.
  Expr draw_use(const Expr& many) {
    const auto one = [&] { return row(many, draw(many.row_count())); };
    switch (draw(6)) {
      case 0: return sum(one(), 0);
      case 1: return sum(tanh(net.layer(one())), 0);
      case 2: return sum(slice(one(), 1, 4), 0);
      case 3: return sum(net.lstm(one(), {one(), one()}).h, 0);
      case 4: return sum({sum(rows({one(), one(), many}) * rows({many, one(), one()}), 0)});
      default: return sum(concat({one(), one()}, 0) * concat({one(), one()}, 0), 0);
    }
  }
  std::int32_t draw(std::int32_t below) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(below)); }

  Net net;
  std::mt19937 random{1};
};

TEST_F(RowsInPlace, AgreeWithTheTwin) {
  for (unsigned time = 0; time < 150; ++time) {
    SCOPED_TRACE(time);
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& wanted) {
      random.seed(time);
      std::vector<Expr> losses;
      for (std::int32_t instance = 1 + draw(3); instance > 0; --instance) {
        graph.begin_instance();
        const Expr many = draw_rows(graph);
        for (std::int32_t use = 1 + draw(3); use > 0; --use) losses.push_back(draw_use(many));
        if (draw(3) == 0) losses.push_back(sum({sum(many * many, 0)}));
        if (draw(4) == 0) {
          wanted.push_back(row(many, 0));
          losses.push_back(sum(wanted.back() * wanted.back(), 0));
        }
        if (draw(4) == 0) losses.back().value();  // a run of its own
      }
      return sum(losses);
    });
  }
}

TEST_F(RowsInPlace, GiveTheSameInInference) {
  for (unsigned time = 0; time < 60; ++time) {
    SCOPED_TRACE(time);
    const auto outputs_of = [&](const GraphOptions& options) {
      random.seed(time);
      Graph graph(options);
      std::vector<Expr> outputs;
      for (int instance = 0; instance < 3; ++instance) {
        const Expr many = draw_rows(graph);
        outputs.push_back(draw_use(many));
        if (draw(2) == 0) outputs.push_back(row(many, many.row_count() - 1));
        if (draw(3) == 0) outputs.push_back(slice(row(many, 0), 2, 5));
        if (draw(3) == 0) outputs.push_back(many);
      }
      return testing::finished_values(graph, outputs);
    };
    testing::expect_near(outputs_of({}), outputs_of({.execution = Execution::kPlain}), "finish");
  }
}

TEST_F(RowsInPlace, TakeNoStep) {
  Graph graph;
  const Expr many = tanh(net.words.rows(graph, std::array{1, 2, 3}));
  std::vector<Expr> losses;
  for (std::int32_t r = 0; r < 3; ++r) losses.push_back(sum(row(many, r), 0));
  sum(losses).backward();
  EXPECT_EQ(graph.statistics().views, 3);
  EXPECT_EQ(graph.statistics().nodes, 1 + 1 + 3 + 1);
  EXPECT_EQ(graph.statistics().steps, 4);
  EXPECT_EQ(graph.statistics().bytes_copied, 0);
}

/// Where finish() is asked for one row, the others are forgotten.
TEST_F(RowsInPlace, AnOutputHasMemoryOfItsOwn) {
  for (const bool is_kept : {false, true}) {
    Graph graph;
    const Expr many = tanh(graph.rows({kWidth}, std::vector<float>(100 * kWidth, 0.5F)));
    const Expr last = row(many, 99);
    const Expr other = sum(row(many, 3) * last, 0);
    if (is_kept) graph.keep(last);
    graph.finish(is_kept ? std::vector<Expr>{other} : std::vector<Expr>{other, last});
    EXPECT_EQ(graph.statistics().views, 1);
    EXPECT_EQ(last.value().shape(), Shape({kWidth}));
    EXPECT_FLOAT_EQ(static_cast<float>(last.value().at(1)), std::tanh(0.5F));
  }
}

}  // namespace
}  // namespace espalier::rows_in_place
