/// The inputs of the benchmark's workloads, as plain data. No network is known here.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::bench {

/// A binary tree with a label at every node. Children come before their parent; the root is last.
struct BinaryTree {
  struct Node {
    std::int32_t left = -1;  // both -1 at a leaf
    std::int32_t right = -1;
    std::int32_t word = -1;  // of a leaf
    std::int32_t label = 0;
    bool is_leaf() const { return left < 0; }
  };
  std::vector<Node> nodes;
};

/// Words with a tag each. Of a rare word its characters are given, of all others none.
struct TaggedSentence {
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> tags;
  std::vector<std::vector<std::int32_t>> characters;
};

/// A tree in which every node has a word and any number of children. Children come before their parent.
struct DependencyTree {
  struct Node {
    std::int32_t word = 0;
    std::int32_t label = 0;
    std::vector<std::int32_t> children;
  };
  std::vector<Node> nodes;
};

/// Characters in a row, and words over some of them: word w covers characters begin to end - 1.
struct Lattice {
  struct Word {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t word = 0;
  };
  std::vector<std::int32_t> characters;
  std::vector<std::int32_t> labels;  // one a character
  std::vector<Word> words;           // ascending by end
};

struct Molecule {
  struct Bond {
    std::int32_t a = 0;
    std::int32_t b = 0;
    std::int32_t kind = 0;
  };
  std::vector<std::int32_t> atoms;
  std::vector<Bond> bonds;
  float target = 0;
};

/// A query plan: a tree of operators, each of a kind with numbers that describe it. Children come before their parent;
/// the root is last. An operator has at most two children.
struct QueryPlan {
  struct Node {
    std::int32_t kind = 0;
    std::int32_t left = -1;  // -1: none
    std::int32_t right = -1;
    std::vector<float> features{};  // as many for all nodes of a data set
    float target = 0;               // logarithm of its measured time
  };
  std::vector<Node> nodes;
};

}  // namespace espalier::bench
