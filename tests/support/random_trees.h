/// Minibatches of random binary trees, and a sentiment model over them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/sum.h"

namespace espalier::testing {

/// Nodes in an order in which children come first; the last is the root. A leaf has a word and no children.
struct RandomTree {
  struct Node {
    std::int32_t word = -1;
    std::array<std::size_t, 2> children{};
  };
  std::vector<Node> nodes;
};

/// A tree of 2 to 36 leaves, 19 on average as in the Stanford Sentiment Treebank, whose neighbours are joined in random
/// order.
inline RandomTree random_tree(Random& random, std::int32_t words) {
  RandomTree tree;
  std::vector<std::size_t> row;
  const std::int64_t leaves = 2 + random.below(35);
  for (std::int64_t i = 0; i < leaves; ++i) {
    row.push_back(tree.nodes.size());
    tree.nodes.push_back({static_cast<std::int32_t>(random.below(words)), {}});
  }
  while (row.size() > 1) {
    const auto k = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(row.size()) - 1));
    tree.nodes.push_back({-1, {row[k], row[k + 1]}});
    row[k] = tree.nodes.size() - 1;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  return tree;
}

inline std::vector<RandomTree> random_trees(std::uint64_t seed, int count, std::int32_t words) {
  Random random(seed);
  std::vector<RandomTree> trees;
  for (int i = 0; i < count; ++i) trees.push_back(random_tree(random, words));
  return trees;
}

/// Words, a binary Tree-LSTM and a classifier.
struct SentimentNet {
  explicit SentimentNet(std::int32_t hidden) : cell(model / "cell", hidden, hidden), head(model / "head", hidden, 5) {}

  static constexpr std::int32_t kWords = 100;
  Model model;
  nn::BinaryTreeLstm cell;
  nn::Linear head;
  nn::Embedding words{model / "words", kWords, cell.hidden()};

  /// The summed loss of all trees: of every node, or of the roots only.
  Expr loss(Graph& graph, const std::vector<RandomTree>& trees, bool every_node) const {
    std::vector<Expr> losses;
    for (const RandomTree& tree : trees) {
      graph.begin_instance();
      add_losses(graph, tree, every_node, losses);
    }
    return sum(losses);
  }
  /// That of one tree, whose instance was begun.
  Expr loss_of(Graph& graph, const RandomTree& tree, bool every_node) const {
    std::vector<Expr> losses;
    add_losses(graph, tree, every_node, losses);
    return sum(losses);
  }

 private:
  void add_losses(Graph& graph, const RandomTree& tree, bool every_node, std::vector<Expr>& losses) const {
    std::vector<nn::TreeState> states;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const RandomTree::Node& node = tree.nodes[i];
      states.push_back(node.word >= 0 ? cell.leaf(words(graph, node.word))
                                      : cell(states[node.children[0]], states[node.children[1]]));
      if (every_node || i + 1 == tree.nodes.size())
        losses.push_back(cross_entropy(head(states.back().h), static_cast<std::int32_t>(i % 5)));
    }
  }
};

}  // namespace espalier::testing
