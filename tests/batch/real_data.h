/// Sentiment trees and word lattices of real data, as the shapes that schedules are made for.
#pragma once

#include <filesystem>
#include <vector>

#include "bench/data/sets.h"
#include "tests/batch/workloads.h"

namespace espalier::batch {

inline std::vector<BinaryTree> real_trees(const std::filesystem::path& folder) {
  std::vector<BinaryTree> trees;
  for (const bench::BinaryTree& tree : bench::sentiment_trees(folder).instances) {
    trees.emplace_back();
    for (const bench::BinaryTree::Node& node : tree.nodes) trees.back().push_back({node.left, node.right});
  }
  return trees;
}

inline std::vector<Lattice> real_lattices(const std::filesystem::path& folder) {
  std::vector<Lattice> lattices;
  for (const bench::Lattice& lattice : bench::word_lattices(folder).instances) {
    lattices.push_back({.characters = static_cast<std::int32_t>(lattice.characters.size()), .words = {}});
    for (const bench::Lattice::Word& word : lattice.words) lattices.back().words.push_back({word.begin, word.end});
  }
  return lattices;
}

}  // namespace espalier::batch
