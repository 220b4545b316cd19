/// Trees in brackets with a label at each node: the Stanford Sentiment Treebank, the Penn Treebank.
///
///     (3 (2 It) (4 (2 's) (3 good)))
///
/// A node is "(", its label, and either one word or one or more nodes, then ")". Words and labels are any text without
/// spaces, tabs, line ends and parentheses; only those separate, so a word may hold a no-break space. A label may be
/// empty, as that of the Penn Treebank's outermost nodes. A tree may go over several lines; a line that begins with "("
/// begins a new one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/tree.h"

namespace espalier::data {

struct LabelledTree {
  /// The token of a leaf is the number of its word, from 0 and from left to right; other nodes have none. The label of
  /// a node is its label if that is a whole number (0 to 999,999,999), else kNone.
  Tree tree;
  std::vector<std::string> words;   // of the leaves
  std::vector<std::string> labels;  // of all nodes, by their number in `tree`

  bool operator==(const LabelledTree&) const = default;
};

struct TreebankOptions {
  /// If above 0: labels are the numbers from 0 to `labels` - 1, and others are refused.
  std::int32_t labels = 0;
  /// Refuse inner nodes that have not two children.
  bool binary = false;
};

class ESPALIER_EXPORT TreebankReader final : public RecordReader<LabelledTree> {
 public:
  explicit TreebankReader(Input input, const TreebankOptions& tree = {}, const ReadOptions& options = {});

 private:
  struct Open {
    std::int64_t line;
    std::size_t column;
    std::size_t label;  // where its label begins in labels_
    std::int32_t children;
    bool word;
  };

  bool read(LabelledTree& record) override;
  bool skip() override;
  void read_line(LabelledTree& record, std::string_view line);
  void open(std::string_view line, std::size_t& at);
  void close(LabelledTree& record, std::size_t at);
  void read_word(LabelledTree& record, std::string_view line, std::size_t& at);
  [[noreturn]] void refuse_open() const;

  LineReader lines_;
  TreebankOptions tree_;
  TreeBuilder builder_;
  std::vector<Open> open_;
  std::string labels_;         // of the open nodes, one after the other
  std::size_t words_ = 0;      // of the tree being read
  std::int64_t end_line_ = 0;  // where the last line that was not blank ended
  std::size_t end_column_ = 0;
};

}  // namespace espalier::data
