/// Random binary trees for tests of the benchmark.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "bench/data/sets.h"

namespace espalier::bench {

/// Joins neighbours until one is left: those that `pick(count)` says.
template <class Pick>
BinaryTree make_tree(std::int32_t leaves, std::int32_t words, std::int32_t labels, std::mt19937& random,
                     const Pick& pick) {
  const auto below = [&](std::int32_t n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  BinaryTree tree;
  std::vector<std::int32_t> open;
  for (std::int32_t i = 0; i < leaves; ++i) {
    open.push_back(static_cast<std::int32_t>(tree.nodes.size()));
    tree.nodes.push_back({-1, -1, below(words), below(labels)});
  }
  while (open.size() > 1) {
    const auto at = static_cast<std::ptrdiff_t>(pick(static_cast<std::int32_t>(open.size()) - 1));
    const auto joined = static_cast<std::int32_t>(tree.nodes.size());
    tree.nodes.push_back(
        {open[static_cast<std::size_t>(at)], open[static_cast<std::size_t>(at) + 1], -1, below(labels)});
    open[static_cast<std::size_t>(at)] = joined;
    open.erase(open.begin() + at + 1);
  }
  return tree;
}

/// A chain, a single leaf, random trees, and a balanced-ish one.
inline std::shared_ptr<const DataSet<BinaryTree>> random_trees(std::int32_t words, std::int32_t labels) {
  std::mt19937 random(7);
  auto data = std::make_shared<DataSet<BinaryTree>>();
  data->words = words;
  data->labels = labels;
  const auto anywhere = [&](std::int32_t n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  data->instances.push_back(make_tree(9, words, labels, random, anywhere));
  data->instances.push_back(make_tree(1, words, labels, random, anywhere));
  data->instances.push_back(make_tree(12, words, labels, random, [](std::int32_t) { return 0; }));
  data->instances.push_back(make_tree(7, words, labels, random, [](std::int32_t n) { return n - 1; }));
  data->instances.push_back(make_tree(2, words, labels, random, anywhere));
  for (std::int32_t leaves : {5, 17, 30, 3})
    data->instances.push_back(make_tree(leaves, words, labels, random, anywhere));
  return data;
}

}  // namespace espalier::bench
