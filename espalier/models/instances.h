/// The inputs of the networks of this folder: words, tags and kinds are numbers by now, and no text is left.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::models {

/// The label of a node that has none.
inline constexpr std::int32_t kNoLabel = -1;

/// A binary tree. Children come before their parent; the root is last.
struct BinaryTree {
  struct Node {
    std::int32_t left = -1;  // both -1 at a leaf
    std::int32_t right = -1;
    std::int32_t word = -1;  // of a leaf
    std::int32_t label = 0;  // or kNoLabel
    bool is_leaf() const { return left < 0; }
  };
  std::vector<Node> nodes;
};

/// Words with a tag each. `characters` has the spelling of a word, or nothing if the word is not to be spelled.
struct TaggedSentence {
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> tags;
  std::vector<std::vector<std::int32_t>> characters;
};

/// A tree in which every node has a word and any number of children. Children come before their parent; the root is
/// last.
struct DependencyTree {
  struct Node {
    std::int32_t word = 0;
    std::int32_t label = 0;
    std::vector<std::int32_t> children;
  };
  std::vector<Node> nodes;
};

/// Two sentences, and how related they are. A score below 0 is unknown.
struct TreePair {
  DependencyTree a;
  DependencyTree b;
  double score = -1;
};

/// A row of characters, and words that cover some of them: word w covers characters begin to end - 1.
struct Lattice {
  struct Word {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t word = 0;
  };
  std::vector<std::int32_t> characters;
  std::vector<std::int32_t> labels;  // one per character
  std::vector<Word> words;           // sorted by end
};

struct Molecule {
  struct Bond {
    std::int32_t a = 0;
    std::int32_t b = 0;
    std::int32_t kind = 0;
  };
  std::vector<std::int32_t> atoms;  // the kind of each
  std::vector<Bond> bonds;
  float target = 0;               // of a data set with one target
  std::vector<float> features{};  // of all atoms, one after the other; may be none
  std::vector<float> targets{};   // of a data set with several; NaN where one is missing
};

/// A query plan: a tree of operators, each with a kind and features. Children come before their parent; the root is
/// last.
struct QueryPlan {
  struct Node {
    std::int32_t kind = 0;
    std::int32_t left = -1;  // -1: none
    std::int32_t right = -1;
    std::vector<float> features{};        // the same number for all nodes of a data set
    float target = 0;                     // logarithm of the measured time
    std::vector<std::int32_t> further{};  // children after the second
  };
  std::vector<Node> nodes;
};

}  // namespace espalier::models
