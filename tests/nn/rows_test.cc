/// Layers over the rows of one node give what they give over a list of nodes: values and gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"

namespace espalier::nn::rows_of_layers {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::expect_cells_agree;
using espalier::testing::expect_near;
using espalier::testing::numbers_of;

constexpr std::int32_t kInput = 5;
constexpr std::int32_t kWords = 12;

std::vector<std::int32_t> random_words(Random& random, std::int64_t most) {
  std::vector<std::int32_t> words;
  for (std::int64_t n = 1 + random.below(most); n > 0; --n)
    words.push_back(static_cast<std::int32_t>(random.below(kWords)));
  return words;
}

/// The sum over some instances of `many`, and of `one`, which are to be the same.
void expect_same(const Model& model, const std::function<Expr(Graph&, Random&)>& many,
                 const std::function<Expr(Graph&, Random&)>& one) {
  const auto loss_of = [](const std::function<Expr(Graph&, Random&)>& instance, int instances) {
    return [&instance, instances](Graph& graph, std::vector<Expr>&) {
      Random random(3);
      std::vector<Expr> losses;
      for (int i = 0; i < instances; ++i) {
        graph.begin_instance();
        losses.push_back(instance(graph, random));
      }
      return sum(losses);
    };
  };
  for (const int instances : {1, 2, 30}) {
    SCOPED_TRACE(instances);
    expect_cells_agree(model, loss_of(many, instances));
    expect_near(numbers_of(model, {}, loss_of(many, instances)), numbers_of(model, {}, loss_of(one, instances)),
                "rows");
  }
}

class RowsOfLayers : public ::testing::TestWithParam<std::int32_t> {
 protected:
  Model model;
  Embedding words{model / "words", kWords, kInput};
};

TEST_P(RowsOfLayers, Lstm) {
  const LstmCell cell(model / "cell", kInput, GetParam());
  for (const bool from_end : {false, true})
    expect_same(
        model,
        [&](Graph& graph, Random& random) {
          const LstmState states = cell.rows(words.each(graph, random_words(random, 9)), from_end);
          return asymmetric_sum(row(states.c, 0)) + asymmetric_sum(sum({states.h}));
        },
        [&](Graph& graph, Random& random) {
          const std::vector<std::int32_t> list = random_words(random, 9);
          LstmState state = cell.initial(graph);
          std::vector<Expr> h(list.size());
          std::vector<Expr> c(list.size());
          for (std::size_t i = 0; i < list.size(); ++i) {
            const std::size_t t = from_end ? list.size() - 1 - i : i;
            state = cell(words(graph, list[t]), state);
            h[t] = state.h;
            c[t] = state.c;
          }
          return asymmetric_sum(c[0]) + asymmetric_sum(sum(h));
        });
}

TEST_P(RowsOfLayers, BiLstm) {
  const BiLstm lstm(model / "lstm", kInput, GetParam());
  expect_same(
      model,
      [&](Graph& graph, Random& random) {
        const Expr y = lstm.rows(words.each(graph, random_words(random, 6)));
        return asymmetric_sum(sum({tanh(y)}));
      },
      [&](Graph& graph, Random& random) {
        std::vector<Expr> x;
        for (const std::int32_t word : random_words(random, 6)) x.push_back(words(graph, word));
        std::vector<Expr> y;
        for (const Expr& each : lstm(x)) y.push_back(tanh(each));
        return asymmetric_sum(sum(y));
      });
}

TEST_P(RowsOfLayers, BinaryTreeLstm) {
  const BinaryTreeLstm cell(model / "cell", kInput, GetParam());
  /// The leaves are joined from the left or from the right, one after the other or in pairs.
  const auto join = [](Random& random, std::vector<std::int32_t> open, const auto& node) {
    while (open.size() > 1) {
      const auto i = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(open.size()) - 1));
      open[i] = node(open[i], open[i + 1]);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  };
  expect_same(
      model,
      [&](Graph& graph, Random& random) {
        const std::vector<std::int32_t> list = random_words(random, 8);
        Structure tree;
        std::vector<std::int32_t> open;
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(list.size()); ++i) open.push_back(tree.add(0, i));
        join(random, open, [&](std::int32_t left, std::int32_t right) {
          return tree.add(1, Structure::kNoX, {left, right});
        });
        const TreeState states = cell.rows(words.each(graph, list), tree);
        return asymmetric_sum(row(states.c, tree.size() - 1)) + asymmetric_sum(sum({states.h}));
      },
      [&](Graph& graph, Random& random) {
        const std::vector<std::int32_t> list = random_words(random, 8);
        std::vector<TreeState> states;
        std::vector<std::int32_t> open;
        for (const std::int32_t word : list) {
          open.push_back(static_cast<std::int32_t>(states.size()));
          states.push_back(cell.leaf(words(graph, word)));
        }
        join(random, open, [&](std::int32_t left, std::int32_t right) {
          states.push_back(cell(states[static_cast<std::size_t>(left)], states[static_cast<std::size_t>(right)]));
          return static_cast<std::int32_t>(states.size()) - 1;
        });
        std::vector<Expr> h;
        for (const TreeState& state : states) h.push_back(state.h);
        return asymmetric_sum(states.back().c) + asymmetric_sum(sum(h));
      });
}

// 64: with weights that are laid out and products in blocks; 7: with small ones.
INSTANTIATE_TEST_SUITE_P(Rows, RowsOfLayers, ::testing::Values(7, 64));

TEST(RowsOfLayers, MultiplyTheInputsOfASequenceAtOnce) {
  Model model;
  const LstmCell cell(model / "cell", kInput, 16);
  Graph graph;
  std::vector<float> values(20 * kInput, 0.25F);
  sum({cell.rows(graph.input_rows({kInput}, values)).h}).value();
  EXPECT_EQ(graph.statistics().steps, 2);  // the sequence, the sum
}

TEST(RowsOfLayers, RefuseNodesWithInputs) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", kInput, 4, {.node_input = 3});
  Graph graph;
  Structure tree;
  tree.add(0, 0);
  EXPECT_THAT(
      espalier::testing::refusal_of([&] { cell.rows(graph.input_rows({kInput}, std::vector<float>(kInput)), tree); }),
      ::testing::HasSubstr("tree lstm: nodes of this cell have an input; rows() is for cells without"));
}

TEST(Embedding, LooksUpSeveralModuloItsRows) {
  Model model;
  const Embedding words(model / "words", 4, 2, {.modulo = true});
  Graph graph;
  const Tensor found = words.each(graph, std::vector<std::int32_t>{1, 5, -3}).value();
  EXPECT_EQ(found.shape(), Shape({3, 2}));
  const Tensor one = words(graph, 1).value();
  const Tensor three = words(graph, 3).value();
  EXPECT_EQ(found.at(0), one.at(0));
  EXPECT_EQ(found.at(2), one.at(0));
  EXPECT_EQ(found.at(5), three.at(1));
}

}  // namespace
}  // namespace espalier::nn::rows_of_layers
