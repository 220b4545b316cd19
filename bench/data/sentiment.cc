/// Sentiment trees: the Stanford Sentiment Treebank (Socher et al., 2013), or trees with its statistics.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/data/draws.h"
#include "bench/data/sets.h"
#include "bench/data/vocabulary.h"
#include "espalier/data/text_file.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kLabels = 5;

// --- read ------------------------------------------------------------------------------------------------------------

/// One tree a line: "(3 (2 It) (4 works))". A label is a digit, a word lasts to the next bracket.
class TreeLine {
 public:
  TreeLine(const data::LineReader& reader, std::string_view line, Vocabulary& words)
      : reader_(reader), line_(line), words_(words) {}

  BinaryTree parse() {
    do step();
    while (!open_.empty());
    if (at_ < line_.size()) refuse("expected the line to end after its tree");
    return std::move(tree_);
  }

 private:
  struct Open {
    std::size_t column = 0;
    std::int32_t label = 0;
    std::array<std::int32_t, 2> children{-1, -1};
    std::size_t child_count = 0;
    std::string_view word{};
  };

  char next() const { return at_ < line_.size() ? line_[at_] : '\0'; }

  void step() {
    while (next() == ' ') ++at_;
    if (next() == '(') return open();
    if (open_.empty()) refuse("expected '('");
    if (next() == ')') return close();
    Open& node = open_.back();
    if (at_ == line_.size()) refuse(fmt::format("expected ')' to close the node opened at column {}", node.column));
    if (node.child_count > 0 || !node.word.empty()) refuse("expected ')' or '('");
    const std::size_t end = std::min(line_.find_first_of("()", at_), line_.size());
    node.word = line_.substr(at_, end - at_);
    at_ = end;
  }

  void open() {
    if (!open_.empty() && (open_.back().child_count == 2 || !open_.back().word.empty()))
      refuse("expected ')': a node has a word or two children");
    open_.push_back({.column = at_ + 1});
    ++at_;
    const int label = next() - '0';
    if (label < 0 || label >= kLabels) refuse("expected a label from 0 to 4 after '('");
    open_.back().label = label;
    ++at_;
  }

  void close() {
    const Open node = open_.back();
    if (node.child_count == 1 || (node.child_count == 0 && node.word.empty()))
      refuse("expected a word or two children before ')'");
    open_.pop_back();
    ++at_;
    const std::int32_t word = node.word.empty() ? -1 : words_.number(node.word);
    tree_.nodes.push_back({.left = node.children[0], .right = node.children[1], .word = word, .label = node.label});
    if (!open_.empty())
      open_.back().children[open_.back().child_count++] = static_cast<std::int32_t>(tree_.nodes.size()) - 1;
  }

  [[noreturn]] void refuse(std::string_view message) const { throw reader_.error_at(at_ + 1, message); }

  const data::LineReader& reader_;
  std::string_view line_;
  Vocabulary& words_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  BinaryTree tree_;
};

DataSet<BinaryTree> read_sentiment(const std::filesystem::path& path) {
  DataSet<BinaryTree> set{.real = true, .labels = kLabels};
  Vocabulary words;
  data::LineReader reader(path);
  for (std::string_view line; reader.next(line);)
    if (!line.empty()) set.instances.push_back(TreeLine(reader, line, words).parse());
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
