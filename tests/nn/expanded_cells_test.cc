/// Every cell of the library computes what its equations, recorded op by op, compute: values and gradients, on random
/// sequences and trees.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_gru.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"

namespace espalier::nn {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::expect_cells_agree;
using espalier::testing::LossOf;

class ExpandedCells : public ::testing::TestWithParam<std::int32_t> {
 protected:
  static constexpr std::int32_t kInput = 5;
  static constexpr std::int32_t kWords = 12;

  std::int32_t hidden() const { return GetParam(); }
  Expr word(Graph& graph) { return words(graph, static_cast<std::int32_t>(random_.below(kWords))); }
  /// With numbers of its own.
  Expr leaf(Graph& graph, std::vector<Expr>& inputs, std::int32_t size = kInput) {
    Tensor values({size});
    for (std::int64_t i = 0; i < size; ++i) values.set(i, random_.uniform(-1, 1));
    inputs.push_back(graph.input(values));
    return inputs.back();
  }
  std::int64_t below(std::int64_t n) { return random_.below(n); }

  /// The sum of what `instance` records, over some instances; the same random numbers every time. Some uses of cells
  /// are no more than a piece of rows, and some are.
  template <class Instance>
  void expect_agreement(const Instance& instance) {
    int cells = 0;
    for (const int instances : {1, 3, 40}) {
      SCOPED_TRACE(instances);
      expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
        random_ = Random(static_cast<std::uint64_t>(instances));
        std::vector<Expr> losses;
        for (int i = 0; i < instances; ++i) {
          graph.begin_instance();
          losses.push_back(instance(graph, inputs));
        }
        for (std::int32_t i = 0; i < graph.size(); ++i)
          if (graph.signature(NodeId{i}).info->kind == Kind::kCell) ++cells;
        return sum(losses);
      });
    }
    EXPECT_GT(cells, 0);
  }

  /// The loss of the states of a random binary tree of up to ten leaves, the root's last.
  static Expr loss_of(const std::vector<TreeState>& states) {
    std::vector<Expr> terms{asymmetric_sum(states.back().h), asymmetric_sum(states.back().c)};
    for (std::size_t i = 0; i < states.size(); i += 3) terms.push_back(asymmetric_sum(states[i].h));
    return sum(terms);
  }

  Model model;
  Embedding words{model / "words", kWords, kInput};

 private:
  Random random_{1};
};

TEST_P(ExpandedCells, Lstm) {
  const LstmCell cell(model / "cell", kInput, hidden());
  expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
    LstmState state = cell.initial(graph);
    const std::int64_t length = 1 + below(8);
    for (std::int64_t t = 0; t < length; ++t) state = cell(t % 3 == 0 ? leaf(graph, inputs) : word(graph), state);
    return asymmetric_sum(state.h) + asymmetric_sum(state.c);
  });
}

TEST_P(ExpandedCells, Gru) {
  const GruCell cell(model / "cell", kInput, hidden());
  expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
    Expr h = cell.initial(graph);
    const std::int64_t length = 1 + below(8);
    for (std::int64_t t = 0; t < length; ++t) h = cell(t % 3 == 0 ? leaf(graph, inputs) : word(graph), h);
    return asymmetric_sum(h);
  });
}

TEST_P(ExpandedCells, BiLstm) {
  const BiLstm both(model / "both", kInput, hidden());
  expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> x;
    const std::int64_t length = 1 + below(6);
    for (std::int64_t t = 0; t < length; ++t) x.push_back(t % 3 == 0 ? leaf(graph, inputs) : word(graph));
    std::vector<Expr> terms;
    for (const Expr& y : both(x)) terms.push_back(asymmetric_sum(y));
    return sum(terms);
  });
}

TEST_P(ExpandedCells, BinaryTreeLstm) {
  for (const std::int32_t node_input : {0, 4}) {
    SCOPED_TRACE(node_input);
    const BinaryTreeLstm cell(model / (node_input == 0 ? "plain" : "with_inputs"), kInput, hidden(),
                              {.node_input = node_input});
    expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<TreeState> row;
      std::vector<TreeState> states;
      const std::int64_t leaves = 1 + below(9);
      for (std::int64_t i = 0; i < leaves; ++i)
        row.push_back(cell.leaf(i % 3 == 0 ? leaf(graph, inputs) : word(graph)));
      states = row;
      while (row.size() > 1) {
        const auto k = static_cast<std::size_t>(below(static_cast<std::int64_t>(row.size()) - 1));
        row[k] = node_input == 0 ? cell(row[k], row[k + 1]) : cell(leaf(graph, inputs, node_input), row[k], row[k + 1]);
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(k) + 1);
        states.push_back(row[k]);
      }
      return loss_of(states);
    });
  }
}

TEST_P(ExpandedCells, NaryTreeLstmWithMissingChildren) {
  for (const std::int32_t node_input : {0, 4}) {
    SCOPED_TRACE(node_input);
    const NaryTreeLstm cell(model / (node_input == 0 ? "plain" : "with_inputs"), kInput, hidden(), 3,
                            {.node_input = node_input});
    expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<TreeState> states;
      for (int i = 0; i < 3; ++i) states.push_back(cell.leaf(word(graph)));
      for (int i = 0; i < 5; ++i) {
        std::vector<TreeState> children(static_cast<std::size_t>(1 + below(3)));
        children.back() = states[static_cast<std::size_t>(below(std::ssize(states)))];
        for (TreeState& child : children)  // some are missing
          if (below(2) == 0) child = states[static_cast<std::size_t>(below(std::ssize(states)))];
        states.push_back(node_input == 0 ? cell(children) : cell(leaf(graph, inputs, node_input), children));
      }
      return loss_of(states);
    });
  }
}

TEST_P(ExpandedCells, ChildSumTreeLstm) {
  for (const bool with_inputs : {true, false}) {
    SCOPED_TRACE(with_inputs);
    const ChildSumTreeLstm cell(model / (with_inputs ? "with_inputs" : "plain"), kInput, hidden());
    expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<TreeState> states{cell.leaf(word(graph)), cell.leaf(leaf(graph, inputs))};
      for (int i = 0; i < 5; ++i) {
        std::vector<TreeState> children(static_cast<std::size_t>(1 + below(4)));
        for (TreeState& child : children) child = states[static_cast<std::size_t>(below(std::ssize(states)))];
        states.push_back(with_inputs ? cell(word(graph), children) : cell(children));
      }
      return loss_of(states);
    });
  }
}

TEST_P(ExpandedCells, TreeGru) {
  for (const std::int32_t children : {1, 2, 3}) {
    SCOPED_TRACE(children);
    const TreeGru cell(model / ("of" + std::to_string(children)), hidden(), {.children = children});
    expect_agreement([&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> states;
      for (int i = 0; i < 3; ++i) states.push_back(cell.leaf(leaf(graph, inputs, hidden())));
      for (int i = 0; i < 4; ++i) {
        std::vector<Expr> below_it;
        for (std::int32_t k = 0; k < children; ++k)
          below_it.push_back(states[static_cast<std::size_t>(below(std::ssize(states)))]);
        states.push_back(cell(below_it));
      }
      return asymmetric_sum(states.back()) + asymmetric_sum(states[3]);
    });
  }
}

/// The largest has weights that are worth laying out.
INSTANTIATE_TEST_SUITE_P(HiddenSizes, ExpandedCells, ::testing::Values(1, 4, 7, 33));

}  // namespace
}  // namespace espalier::nn
