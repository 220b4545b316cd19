/// Small random instances for the tests of networks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/models/instances.h"

namespace espalier::models::testing {

inline std::int32_t below(Random& random, std::int32_t bound) {
  return static_cast<std::int32_t>(random.uniform(0, 1) * bound) % bound;
}

/// A tree of so many leaves.
inline BinaryTree random_tree(Random& random, std::int32_t leaves, std::int32_t words, std::int32_t labels) {
  BinaryTree tree;
  std::vector<std::int32_t> open;
  for (std::int32_t i = 0; i < leaves; ++i) {
    open.push_back(static_cast<std::int32_t>(tree.nodes.size()));
    const std::int32_t word = below(random, words);
    tree.nodes.push_back({.word = word, .label = word % labels});
  }
  while (open.size() > 1) {
    const auto at = static_cast<std::size_t>(below(random, static_cast<std::int32_t>(open.size()) - 1));
    tree.nodes.push_back({.left = open[at], .right = open[at + 1], .label = below(random, labels)});
    open[at] = static_cast<std::int32_t>(tree.nodes.size()) - 1;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return tree;
}

inline TaggedSentence random_sentence(Random& random, std::int32_t length, std::int32_t words, std::int32_t tags,
                                      std::int32_t characters) {
  TaggedSentence sentence;
  for (std::int32_t t = 0; t < length; ++t) {
    sentence.words.push_back(below(random, words));
    sentence.tags.push_back((sentence.words.back() + (t > 0 ? sentence.words[sentence.words.size() - 2] : 0)) % tags);
    sentence.characters.emplace_back();
    for (std::int32_t c = 0; c < 1 + sentence.words.back() % 4; ++c)
      sentence.characters.back().push_back((sentence.words.back() + c) % characters);
  }
  return sentence;
}

inline DependencyTree random_dependencies(Random& random, std::int32_t nodes, std::int32_t words) {
  DependencyTree tree;
  std::vector<std::int32_t> waiting;
  for (std::int32_t i = 0; i < nodes; ++i) {
    tree.nodes.push_back({.word = below(random, words), .label = below(random, 3), .children = {}});
    const std::int32_t take = i + 1 == nodes ? static_cast<std::int32_t>(waiting.size())
                                             : below(random, static_cast<std::int32_t>(waiting.size()) + 1);
    tree.nodes.back().children.assign(waiting.end() - take, waiting.end());
    waiting.resize(waiting.size() - static_cast<std::size_t>(take));
    waiting.push_back(i);
  }
  return tree;
}

inline Lattice random_lattice(Random& random, std::int32_t length, std::int32_t characters, std::int32_t words) {
  Lattice lattice;
  for (std::int32_t t = 0; t < length; ++t) {
    lattice.characters.push_back(below(random, characters));
    lattice.labels.push_back(
        (lattice.characters.back() + (t > 0 ? lattice.characters[lattice.characters.size() - 2] : 0)) % 3);
    for (std::int32_t begin = 0; begin < t; ++begin)
      if (below(random, 3) == 0) lattice.words.push_back({.begin = begin, .end = t + 1, .word = below(random, words)});
  }
  return lattice;
}

/// A chain of atoms with a few rings.
inline Molecule random_molecule(Random& random, std::int32_t atoms, std::int32_t kinds, std::int32_t features) {
  Molecule molecule;
  for (std::int32_t v = 0; v < atoms; ++v) {
    molecule.atoms.push_back(below(random, kinds));
    if (v > 0) molecule.bonds.push_back({.a = below(random, v), .b = v, .kind = below(random, 2)});
    for (std::int32_t f = 0; f < features; ++f) molecule.features.push_back(static_cast<float>(random.uniform(-1, 1)));
  }
  if (atoms > 3) molecule.bonds.push_back({.a = 0, .b = atoms - 1, .kind = 1});
  molecule.target = static_cast<float>(random.uniform(-1, 1));
  return molecule;
}

/// A plan whose operators of kind k have up to k children; the last kind may have more.
inline QueryPlan random_plan(Random& random, std::int32_t operators, std::int32_t features) {
  QueryPlan plan;
  std::vector<std::int32_t> waiting;
  for (std::int32_t i = 0; i < operators; ++i) {
    const bool root = i + 1 == operators;
    const auto open = static_cast<std::int32_t>(waiting.size());
    const std::int32_t children = root ? open : std::min(open, below(random, 3));
    QueryPlan::Node node{.kind = std::min(children, 2), .target = static_cast<float>(random.uniform(-1, 1))};
    for (std::int32_t f = 0; f < features; ++f) node.features.push_back(static_cast<float>(random.uniform(-1, 1)));
    for (std::int32_t k = 0; k < children; ++k) {
      (k == 0 ? node.left : k == 1 ? node.right : node.further.emplace_back()) = waiting.back();
      waiting.pop_back();
    }
    waiting.push_back(i);
    plan.nodes.push_back(std::move(node));
  }
  return plan;
}

}  // namespace espalier::models::testing
