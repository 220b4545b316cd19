/// The trees of Fold's benchmark (Looks et al., 2017, section 3.5): 128 leaves, of one shape or of many.
#include <numeric>
#include <vector>

#include "bench/data/sets.h"
#include "espalier/base/random.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kLeaves = 128;
constexpr std::int32_t kWords = 128;

/// Leaves first, then inner nodes: `pick` names the first of two neighbours among the subtrees not joined yet.
template <class Pick>
BinaryTree join_neighbours(Random& random, Pick pick) {
  BinaryTree tree;
  tree.nodes.resize(kLeaves);
  for (BinaryTree::Node& leaf : tree.nodes) leaf.word = static_cast<std::int32_t>(random.below(kWords));
  std::vector<std::int32_t> waiting(kLeaves);
  std::iota(waiting.begin(), waiting.end(), 0);
  while (waiting.size() > 1) {
    const auto left = static_cast<std::size_t>(pick(static_cast<std::int32_t>(waiting.size())));
    tree.nodes.push_back({.left = waiting[left], .right = waiting[left + 1]});
    waiting[left] = static_cast<std::int32_t>(tree.nodes.size()) - 1;
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(left) + 1);
  }
  return tree;
}

BinaryTree make_fold_tree(Random& random, TreeShape shape) {
  switch (shape) {
    case TreeShape::kRandom:
    case TreeShape::kSame:
      return join_neighbours(random, [&](std::int32_t waiting) { return random.below(waiting - 1); });
    case TreeShape::kBalanced: {
      // Level by level: the next pair is right of the one just joined, or the first of the next level.
      std::int32_t next = 0;
      return join_neighbours(random, [&](std::int32_t waiting) {
        if (next + 1 >= waiting) next = 0;
        return next++;
      });
    }
    case TreeShape::kChain: break;
  }
  return join_neighbours(random, [](std::int32_t) { return 0; });
}

}  // namespace

DataSet<BinaryTree> fold_trees(TreeShape shape, std::int32_t count, std::uint64_t seed) {
  DataSet<BinaryTree> set{.words = kWords};
  Random random(seed);
  set.instances.resize(static_cast<std::size_t>(count));
  for (BinaryTree& tree : set.instances) {
    if (shape != TreeShape::kSame || &tree == set.instances.data()) {
      tree = make_fold_tree(random, shape);
    } else {
      tree = set.instances.front();
      for (BinaryTree::Node& node : tree.nodes)
        if (node.is_leaf()) node.word = static_cast<std::int32_t>(random.below(kWords));
    }
  }
  return set;
}

}  // namespace espalier::bench
