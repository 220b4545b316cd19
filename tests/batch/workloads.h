/// Minibatches as users have them, as graphs of integers: sentiment trees, by cells and by ops, and word lattices; with
/// shapes read from data or drawn with the same statistics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/random.h"
#include "tests/batch/small_graph.h"

namespace espalier::batch {

/// A binary tree: the two children of each node, which come before it; -1 for those of a leaf.
using BinaryTree = std::vector<std::array<std::int32_t, 2>>;

inline bool is_leaf(const std::array<std::int32_t, 2>& children) { return children[0] < 0; }

/// Nodes on the longest way from the root to a leaf.
inline std::int32_t height_of(const BinaryTree& tree) {
  std::vector<std::int32_t> height(tree.size(), 1);
  for (std::size_t v = 0; v < tree.size(); ++v)
    for (std::int32_t child : tree[v])
      if (child >= 0) height[v] = std::max(height[v], height[static_cast<std::size_t>(child)] + 1);
  return height.empty() ? 0 : height.back();
}

/// A sentence of the Stanford Sentiment Treebank, by its statistics: 19.1 leaves on average (deviation 9.3, at most
/// 52). In 6 of 10 places one side is a single word, twice as often the left one; else the left side is the smaller
/// one.
inline BinaryTree random_tree(Random& random) {
  struct Span {
    std::int32_t leaves;
    bool children_done;
  };
  const auto leaves = static_cast<std::int32_t>(std::clamp(std::lround(19.1 + 9.4 * random.normal()), 2L, 52L));
  std::vector<Span> todo{{leaves, false}};
  std::vector<std::int32_t> done;
  BinaryTree tree;
  while (!todo.empty()) {
    const Span span = todo.back();
    todo.pop_back();
    if (span.leaves == 1) {
      tree.push_back({-1, -1});
    } else if (span.children_done) {
      const std::int32_t right = done.back();
      done.pop_back();
      tree.push_back({done.back(), right});
      done.pop_back();
    } else {
      const double kind = random.uniform();
      const double share = std::min(random.uniform(), random.uniform());
      std::int32_t left = 1;
      if (kind >= 0.35 && kind < 0.52) left = span.leaves - 1;
      if (kind >= 0.52) left = 1 + static_cast<std::int32_t>(share * (span.leaves - 1));
      todo.push_back({span.leaves, true});
      todo.push_back({span.leaves - left, false});
      todo.push_back({left, false});
      continue;
    }
    done.push_back(static_cast<std::int32_t>(tree.size()) - 1);
  }
  return tree;
}

/// A leaf cell (a) or an inner cell (b) a tree node, and a head (c) on each.
inline void add_cells(SmallGraph& graph, const BinaryTree& tree) {
  std::vector<std::int32_t> cell;
  for (const auto& children : tree) {
    cell.push_back(is_leaf(children) ? graph.add('a')
                                     : graph.add('b', {cell[static_cast<std::size_t>(children[0])],
                                                       cell[static_cast<std::size_t>(children[1])]}));
    graph.add('c', {cell.back()});
  }
}

/// 74 nodes a tree on average.
inline SmallGraph random_treebank(Random& random, int trees) {
  SmallGraph graph;
  for (int t = 0; t < trees; ++t) add_cells(graph, random_tree(random));
  return graph;
}

/// A binary Tree-LSTM (Tai et al. 2015) with an op a node and two for each head, whose last nodes are added to
/// `losses`.
inline void add_ops(SmallGraph& graph, const BinaryTree& tree, std::vector<std::int32_t>& losses) {
  enum Kind : std::int32_t {
    kLookup,
    kLeafI,
    kLeafO,
    kLeafU,
    kConcat,
    kI,
    kO,
    kU,
    kForgetLeft,
    kForgetRight,
    kSigmoid,
    kTanh,
    kMul,
    kSum,
    kHead,
    kLoss,
  };
  const auto op = [&](Kind kind, const std::vector<std::int32_t>& inputs) { return graph.add(kind, inputs); };
  struct State {
    std::int32_t h, c;
  };
  std::vector<State> states;
  for (const auto& children : tree) {
    const bool leaf = is_leaf(children);
    const State left = leaf ? State{} : states[static_cast<std::size_t>(children[0])];
    const State right = leaf ? State{} : states[static_cast<std::size_t>(children[1])];
    const std::int32_t x = leaf ? op(kLookup, {}) : op(kConcat, {left.h, right.h});
    const std::int32_t i = op(kSigmoid, {op(leaf ? kLeafI : kI, {x})});
    const std::int32_t o = op(kSigmoid, {op(leaf ? kLeafO : kO, {x})});
    const std::int32_t u = op(kTanh, {op(leaf ? kLeafU : kU, {x})});
    std::int32_t c = op(kMul, {i, u});
    if (!leaf) {
      const std::int32_t forget_left = op(kSigmoid, {op(kForgetLeft, {left.h})});
      const std::int32_t forget_right = op(kSigmoid, {op(kForgetRight, {right.h})});
      c = op(kSum, {c, op(kMul, {forget_left, left.c}), op(kMul, {forget_right, right.c})});
    }
    const std::int32_t h = op(kMul, {o, op(kTanh, {c})});
    states.push_back({h, c});
    losses.push_back(op(kLoss, {op(kHead, {h})}));
  }
}

/// 17 kinds of nodes, the last of them the sum of all losses; 580 nodes a tree on average.
inline SmallGraph random_op_treebank(Random& random, int trees) {
  constexpr std::int32_t kTotal = 16;
  SmallGraph graph;
  std::vector<std::int32_t> losses;
  for (int t = 0; t < trees; ++t) add_ops(graph, random_tree(random), losses);
  graph.add(kTotal, losses);
  return graph;
}

/// The characters of a sentence in a row, and the words found in it.
struct Lattice {
  struct Word {
    std::int32_t begin;
    std::int32_t end;  // one beyond its last character
  };
  std::int32_t characters = 0;
  std::vector<Word> words;  // by their end
};

/// By the statistics of Chinese sentences with words of a lexicon: 44 characters on average (at most 211) and half as
/// many words, most of two characters; up to four words end at one place.
inline Lattice random_lattice(Random& random) {
  constexpr std::array kShareOfSpan{0.36, 0.10, 0.05, 0.015};  // words of 2, 3, 4, 5 characters that end at a place
  Lattice lattice;
  lattice.characters = std::min(4 + static_cast<std::int32_t>(std::lround(-40.5 * std::log1p(-random.uniform()))), 211);
  for (std::int32_t end = 2; end <= lattice.characters; ++end)
    for (std::int32_t span = 2; span <= std::min(5, end); ++span)
      if (random.uniform() < kShareOfSpan[static_cast<std::size_t>(span) - 2])
        lattice.words.push_back({end - span, end});
  return lattice;
}

/// A cell for each character (a) and word (b), from the state before it, and for each place a state, which is the
/// ragged sum (c) of the cells that end there.
inline void add_lattice(SmallGraph& graph, const Lattice& lattice) {
  std::vector<std::int32_t> state{graph.add('d')};
  std::size_t next = 0;
  for (std::int32_t end = 1; end <= lattice.characters; ++end) {
    std::vector<std::int32_t> arcs{graph.add('a', {state.back()})};
    for (; next < lattice.words.size() && lattice.words[next].end == end; ++next)
      arcs.push_back(graph.add('b', {state[static_cast<std::size_t>(lattice.words[next].begin)]}));
    state.push_back(graph.add('c', arcs));
  }
}

/// 112 nodes a lattice on average.
inline SmallGraph random_lattices(Random& random, int lattices) {
  SmallGraph graph;
  for (int l = 0; l < lattices; ++l) add_lattice(graph, random_lattice(random));
  return graph;
}

}  // namespace espalier::batch
