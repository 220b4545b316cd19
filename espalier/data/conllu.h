/// CoNLL-U, the format of Universal Dependencies: ten columns per word, an empty line after each sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/tree.h"

namespace espalier::data {

/// The columns as they are; "_" stands for an empty one.
struct ConlluWord {
  std::string form, lemma, upos, xpos, feats;
  std::int32_t head = kNone;  // the number of a word, from 1; 0 for the root; kNone if the column is "_"
  std::string deprel, deps, misc;

  bool operator==(const ConlluWord&) const = default;
};

/// A token that stands for several words, as "can't" for "ca" and "n't": the line with the id "3-4".
struct ConlluToken {
  std::int32_t first = 0;  // numbers of words, from 1
  std::int32_t last = 0;
  std::string form, misc;

  bool operator==(const ConlluToken&) const = default;
};

/// A word that is not in the text: the line with the id "8.1" is the first one after word 8.
struct ConlluEmptyNode {
  std::int32_t after = 0;
  std::int32_t number = 0;
  ConlluWord word;

  bool operator==(const ConlluEmptyNode&) const = default;
};

struct ESPALIER_EXPORT ConlluSentence {
  std::vector<std::string> comments;  // without "#" and the spaces after it
  std::vector<ConlluWord> words;
  std::vector<ConlluToken> tokens;           // multi-word tokens only
  std::vector<ConlluEmptyNode> empty_nodes;  // in their order in the file

  /// The value of a comment of the form "key = value": metadata("sent_id"), metadata("text").
  std::optional<std::string_view> metadata(std::string_view key) const;
  /// The heads of the words, as dependency_tree() takes them.
  std::vector<std::int32_t> heads() const;

  bool operator==(const ConlluSentence&) const = default;
};

struct ConlluOptions {
  /// Refuse a sentence whose heads do not form a tree with one root. Else heads need only be words of the sentence, or
  /// missing.
  bool require_tree = true;
};

/// Refuses lines without ten columns, empty columns, ids out of order, ranges of words that overlap or do not exist.
class ESPALIER_EXPORT ConlluReader final : public RecordReader<ConlluSentence> {
 public:
  explicit ConlluReader(Input input, const ConlluOptions& sentence = {}, const ReadOptions& options = {});

 private:
  struct Place {
    std::int64_t line;
    std::size_t column;
  };
  class Line;

  bool read(ConlluSentence& record) override;
  bool skip() override;
  void read_line(ConlluSentence& record, std::string_view line);
  void read_token(ConlluSentence& record, const Line& line, std::size_t dash);
  void read_empty_node(ConlluSentence& record, const Line& line, std::size_t point) const;
  void check(const ConlluSentence& record) const;

  LineReader lines_;
  ConlluOptions sentence_;
  bool begun_ = false;               // whether there is a line of the sentence yet
  bool in_sentence_ = false;         // whether the line read last belongs to one
  std::vector<Place> head_places_;   // of the words
  std::vector<Place> token_places_;  // of the multi-word tokens
};

}  // namespace espalier::data
