/// Sentiment trees: the Stanford Sentiment Treebank (Socher et al., 2013), or trees with its statistics.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/data/draws.h"
#include "bench/data/sets.h"
#include "espalier/data/treebank.h"
#include "espalier/data/vocabulary.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kLabels = 5;

// --- read ------------------------------------------------------------------------------------------------------------

BinaryTree binary_tree(const data::LabelledTree& source, data::WordCounts& words) {
  BinaryTree tree;
  for (std::int32_t node = 0; node < source.tree.size(); ++node) {
    const std::span<const std::int32_t> children = source.tree.children(node);
    if (children.empty()) {
      const std::string& word = source.words[static_cast<std::size_t>(source.tree.token(node))];
      tree.nodes.push_back({.word = words.add(word), .label = source.tree.label(node)});
    } else {
      tree.nodes.push_back({.left = children[0], .right = children[1], .label = source.tree.label(node)});
    }
  }
  return tree;
}

DataSet<BinaryTree> read_sentiment(const std::filesystem::path& path) {
  DataSet<BinaryTree> set{.real = true, .labels = kLabels};
  data::WordCounts words;
  data::TreebankReader reader(path, {.labels = kLabels, .binary = true});
  for (data::LabelledTree tree; reader.next(tree);) set.instances.push_back(binary_tree(tree, words));
  set.words = words.size();
  return set;
}

// --- generate --------------------------------------------------------------------------------------------------------

// Counted in sst/train.txt: 8,544 trees of 19.1 leaves on average and 9.8 levels above them (at most 29), 18,280 words,
// of which 51 % are distinct within 64 trees.
constexpr std::int32_t kTrees = 8544;
constexpr std::int32_t kSentimentWords = 18'280;
constexpr std::array<Quantile, 10> kSentenceLengths{
    {{0, 2}, {0.05, 5}, {0.1, 7}, {0.25, 12}, {0.5, 18}, {0.75, 25}, {0.9, 32}, {0.95, 35}, {0.99, 43}, {1, 52}}};

class TreeMaker {
 public:
  BinaryTree make(Random& random) {
    tree_.nodes.clear();
    todo_.assign(1, {draw_count(random, kSentenceLengths), false});
    while (!todo_.empty()) step(random);
    finished_.clear();
    return tree_;
  }

 private:
  struct Span {
    std::int32_t leaves = 0;
    bool children_done = false;
  };

  void step(Random& random) {
    const Span span = todo_.back();
    todo_.pop_back();
    if (span.leaves == 1) {
      tree_.nodes.push_back({.word = words_.draw(random), .label = leaf_labels_.draw(random)});
    } else if (span.children_done) {
      const std::int32_t right = finished_.back();
      finished_.pop_back();
      tree_.nodes.push_back({.left = finished_.back(), .right = right, .label = inner_labels_.draw(random)});
      finished_.pop_back();
    } else {
      const std::int32_t left = left_leaves(random, span.leaves);
      todo_.insert(todo_.end(), {{span.leaves, true}, {span.leaves - left, false}, {left, false}});
      return;
    }
    finished_.push_back(static_cast<std::int32_t>(tree_.nodes.size()) - 1);
  }

  /// Where not both sides are single words, one side is in 3 of 4 places, three times as often the left one; else the
  /// left side is the smaller one.
  static std::int32_t left_leaves(Random& random, std::int32_t leaves) {
    const double kind = random.uniform();
    if (kind < 0.35) return 1;
    if (kind < 0.5) return leaves - 1;
    return 1 + static_cast<std::int32_t>(std::min(random.uniform(), random.uniform()) * (leaves - 1));
  }

  Shares words_ = zipf(kSentimentWords, 2, 1.09);
  Shares leaf_labels_{1130, 7795, 140'415, 11'524, 2699};
  Shares inner_labels_{7115, 26'567, 79'373, 32'670, 9294};
  BinaryTree tree_;
  std::vector<Span> todo_;
  std::vector<std::int32_t> finished_;
};

}  // namespace

DataSet<BinaryTree> sentiment_trees(const std::filesystem::path& folder, const Generate& generate) {
  if (!folder.empty()) return read_sentiment(folder / "sst/train.txt");
  DataSet<BinaryTree> set{.words = kSentimentWords, .labels = kLabels};
  set.instances.resize(static_cast<std::size_t>(generate.count > 0 ? generate.count : kTrees));
  Random random(generate.seed);
  TreeMaker maker;
  for (BinaryTree& tree : set.instances) tree = maker.make(random);
  return set;
}

}  // namespace espalier::bench
