/// Layers over the rows of one node give what they give over a list of nodes: values and gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
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
          const LstmState states = cell.rows(words.rows(graph, random_words(random, 9)), from_end);
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
        const Expr y = lstm.rows(words.rows(graph, random_words(random, 6)));
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
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(list.size()); ++i)
          open.push_back(tree.add(BinaryTreeLstm::kLeaf, i));
        join(random, open, [&](std::int32_t left, std::int32_t right) {
          return tree.add(BinaryTreeLstm::kNode, Structure::kNoX, {left, right});
        });
        const TreeState states = cell.rows(words.rows(graph, list), tree);
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

TEST_P(RowsOfLayers, Gru) {
  const GruCell cell(model / "cell", kInput, GetParam());
  for (const bool from_end : {false, true})
    expect_same(
        model,
        [&](Graph& graph, Random& random) {
          const Expr h = cell.rows(words.rows(graph, random_words(random, 9)), from_end);
          return asymmetric_sum(row(h, 0)) + asymmetric_sum(sum({tanh(h)}));
        },
        [&](Graph& graph, Random& random) {
          const std::vector<std::int32_t> list = random_words(random, 9);
          Expr state = cell.initial(graph);
          std::vector<Expr> h(list.size());
          for (std::size_t i = 0; i < list.size(); ++i) {
            const std::size_t t = from_end ? list.size() - 1 - i : i;
            state = cell(words(graph, list[t]), state);
            h[t] = state;
          }
          const Expr first = h[0];
          for (Expr& each : h) each = tanh(each);
          return asymmetric_sum(first) + asymmetric_sum(sum(h));
        });
}

/// Which nodes are whose children, each node after its children.
using ChildLists = std::vector<std::vector<std::int32_t>>;

/// A tree, or a DAG whose nodes may be the child of several; each node takes up to `most` of those before it.
ChildLists random_children(Random& random, std::int32_t nodes, std::int64_t most, bool is_tree) {
  ChildLists lists(static_cast<std::size_t>(nodes));
  std::vector<std::int32_t> free;
  for (std::int32_t i = 0; i < nodes; ++i) {
    for (std::int64_t n = free.empty() ? 0 : random.below(most + 1); n > 0 && !free.empty(); --n) {
      const auto place = free.begin() + random.below(std::ssize(free));
      lists[static_cast<std::size_t>(i)].push_back(*place);
      if (is_tree) free.erase(place);
    }
    free.push_back(i);
  }
  return lists;
}

TEST_P(RowsOfLayers, TreeGru) {
  Embedding leaves(model / "leaves", kWords, GetParam());
  const TreeGru cell(model / "cell", GetParam(), {.children = 3});
  const auto shape_of = [](Random& random) {
    ChildLists lists = random_children(random, 9, 3, /*is_tree=*/false);
    for (auto& children : lists)
      while (!children.empty() && children.size() < 3) children.push_back(children[0]);
    return lists;
  };
  expect_same(
      model,
      [&](Graph& graph, Random& random) {
        const ChildLists lists = shape_of(random);
        std::vector<std::int32_t> ids;
        Structure tree;
        for (const auto& children : lists)
          if (children.empty()) {
            tree.add(TreeGru::kLeaf, static_cast<std::int32_t>(ids.size()));
            ids.push_back(static_cast<std::int32_t>(random.below(kWords)));
          } else {
            tree.add(TreeGru::kNode, Structure::kNoX, children);
          }
        return asymmetric_sum(sum({cell.rows(leaves.rows(graph, ids), tree)}));
      },
      [&](Graph& graph, Random& random) {
        std::vector<Expr> h;
        for (const auto& children : shape_of(random)) {
          std::vector<Expr> of_children;
          for (const std::int32_t child : children) of_children.push_back(h[static_cast<std::size_t>(child)]);
          h.push_back(children.empty() ? cell.leaf(leaves(graph, random.below(kWords))) : cell(of_children));
        }
        return asymmetric_sum(sum(h));
      });
}

TEST_P(RowsOfLayers, ChildSumTreeLstm) {
  const ChildSumTreeLstm cell(model / "cell", kInput, GetParam());
  struct Form {
    std::int32_t nodes;
    std::int64_t most;
    bool is_tree;
    bool backwards;  // parents before their children
  };
  // Few children and many; the last has nodes with more of them than are summed in one part.
  for (const Form& shape : {Form{1, 0, true, false}, Form{9, 2, true, false}, Form{12, 4, false, true},
                            Form{30, 25, true, false}, Form{30, 25, false, true}}) {
    if (shape.nodes > 12 && GetParam() > 7) continue;  // the twin takes long
    SCOPED_TRACE(shape.nodes);
    const auto has_x = [](std::size_t node, const std::vector<std::int32_t>& children) {
      return children.empty() || node % 3 != 0;
    };
    expect_same(
        model,
        [&](Graph& graph, Random& random) {
          const ChildLists lists = random_children(random, shape.nodes, shape.most, shape.is_tree);
          const auto number = [&](std::int32_t node) { return shape.backwards ? shape.nodes - 1 - node : node; };
          std::vector<std::int32_t> ids;
          for (std::int32_t i = 0; i < shape.nodes; ++i) ids.push_back(static_cast<std::int32_t>(random.below(kWords)));
          Structure tree;
          for (std::int32_t row = 0; row < shape.nodes; ++row) {
            const auto node = static_cast<std::size_t>(number(row));
            std::vector<std::int32_t> children;
            for (const std::int32_t child : lists[node]) children.push_back(number(child));
            if (has_x(node, children))
              tree.add(ChildSumTreeLstm::kNode, static_cast<std::int32_t>(node), children);
            else
              tree.add(ChildSumTreeLstm::kNodeWithoutX, Structure::kNoX, children);
          }
          const TreeState states = cell.rows(words.rows(graph, ids), tree);
          EXPECT_EQ(states.h.row_count(), shape.nodes);
          return asymmetric_sum(row(states.c, number(shape.nodes - 1))) + asymmetric_sum(sum({states.h}));
        },
        [&](Graph& graph, Random& random) {
          const ChildLists lists = random_children(random, shape.nodes, shape.most, shape.is_tree);
          std::vector<TreeState> states;
          std::vector<Expr> h;
          for (std::size_t node = 0; node < lists.size(); ++node) {
            std::vector<TreeState> children;
            for (const std::int32_t child : lists[node]) children.push_back(states[static_cast<std::size_t>(child)]);
            const Expr x = words(graph, random.below(kWords));
            states.push_back(has_x(node, lists[node]) ? cell(x, children) : cell(children));
            h.push_back(states.back().h);
          }
          return asymmetric_sum(states.back().c) + asymmetric_sum(sum(h));
        });
  }
}

// 64: with weights that are laid out and products in blocks; 7: with small ones.
INSTANTIATE_TEST_SUITE_P(Rows, RowsOfLayers, ::testing::Values(7, 64));

TEST(RowsOfLayers, MultiplyTheInputsOfASequenceAtOnce) {
  Model model;
  const LstmCell cell(model / "cell", kInput, 16);
  Graph graph;
  std::vector<float> values(20 * kInput, 0.25F);
  sum({cell.rows(graph.rows({kInput}, values)).h}).value();
  EXPECT_EQ(graph.statistics().steps, 2);  // the sequence, the sum
}

TEST(RowsOfLayers, RefuseNodesWithInputs) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", kInput, 4, {.node_input = 3});
  Graph graph;
  Structure tree;
  tree.add(BinaryTreeLstm::kLeaf, 0);
  EXPECT_THAT(espalier::testing::refusal_of([&] { cell.rows(graph.rows({kInput}, std::vector<float>(kInput)), tree); }),
              ::testing::HasSubstr("tree lstm: nodes of this cell have an input; rows() is for cells without"));
}

TEST(ChildSumTreeLstm, RunsAStarInFewHeights) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", kInput, 4);
  Graph graph;
  Structure star;
  std::vector<std::int32_t> leaves;
  for (std::int32_t i = 0; i < 1000; ++i) leaves.push_back(star.add(ChildSumTreeLstm::kNode, 0));
  star.add(ChildSumTreeLstm::kNode, 0, leaves);
  const TreeState states = cell.rows(graph.rows({kInput}, std::vector<float>(kInput, 0.5F)), star);
  EXPECT_TRUE(std::isfinite(sum(row(states.h, 1000)).scalar()));
  EXPECT_EQ(states.h.value().shape(), Shape({1001, 4}));
}

TEST(ChildSumTreeLstm, RefusesRowsThatDependOnThemselvesAndUnknownOnes) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", kInput, 4);
  Graph graph;
  const Expr x = graph.rows({kInput}, std::vector<float>(2 * kInput, 0.5F));
  const auto told = [&](const Structure& structure) {
    return espalier::testing::refusal_of([&] { cell.rows(x, structure); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(told({}), HasSubstr("recursion \"child_sum\": the structure has no rows"));
  Structure s;
  s.add(ChildSumTreeLstm::kNode, 0, {1});
  s.add(ChildSumTreeLstm::kNode, 1, {0});
  EXPECT_THAT(told(s), HasSubstr("recursion \"child_sum\": row 0 depends on itself, or on a row that does"));
  s.clear();
  s.add(ChildSumTreeLstm::kNode, 0, {3});
  EXPECT_THAT(told(s), HasSubstr("row 0 has row 3 as a child, and there are rows 0 to 0"));
  s.clear();
  s.add(KindId{2}, 0);
  EXPECT_THAT(told(s), HasSubstr("row 0 is of kind 2, and there are kinds 0 to 1"));
  s.clear();
  s.add(ChildSumTreeLstm::kNode, 2);
  EXPECT_THAT(told(s), HasSubstr("row 0, of kind \"node\", reads row 2 of x, which has rows 0 to 1"));
}

TEST(Embedding, LooksUpSeveralIdsOfEitherSize) {
  Model model;
  const Embedding words(model / "words", 4, 2);
  const Embedding hashed(model / "hashed", 4, 2, {.modulo = true});
  Graph graph;
  const std::vector<std::int64_t> large{1, (std::int64_t{1} << 40) + 3, -5};
  const Tensor found = hashed.rows(graph, large).value();
  for (std::int64_t r = 0; r < 3; ++r)
    EXPECT_EQ(found.at({r, 1}), hashed(graph, large[static_cast<std::size_t>(r)]).value().at(1));
  EXPECT_EQ(words.rows(graph, std::vector<std::int64_t>{3, 0}).value(),
            words.rows(graph, std::vector<std::int32_t>{3, 0}).value());
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  EXPECT_THAT(espalier::testing::refusal_of([&] { words.rows(graph, large); }),
              AllOf(HasSubstr("lookup: row 1099511627779 is outside the table (rows 0 to 3)"),
                    HasSubstr("parameter \"words.table\"")));
  EXPECT_THAT(
      espalier::testing::refusal_of([&] { words.rows(graph, std::vector<std::int64_t>{4}); }),
      AllOf(HasSubstr("lookup: row 4 is outside the table (rows 0 to 3)"), HasSubstr("parameter \"words.table\"")));
}

TEST(Embedding, LooksUpSeveralModuloItsRows) {
  Model model;
  const Embedding words(model / "words", 4, 2, {.modulo = true});
  Graph graph;
  const Tensor found = words.rows(graph, std::vector<std::int32_t>{1, 5, -3}).value();
  EXPECT_EQ(found.shape(), Shape({3, 2}));
  const Tensor one = words(graph, 1).value();
  const Tensor three = words(graph, 3).value();
  EXPECT_EQ(found.at(0), one.at(0));
  EXPECT_EQ(found.at(2), one.at(0));
  EXPECT_EQ(found.at(5), three.at(1));
}

}  // namespace
}  // namespace espalier::nn::rows_of_layers
