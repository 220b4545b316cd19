/// Sentences Involving Compositional Knowledge (Marelli et al., 2014): pairs of sentences with how related they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/csv.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"

namespace espalier::data {

struct SickPair {
  std::string id;
  std::string a;
  std::string b;
  double relatedness = 0;  // 1 to 5
  std::string entailment;  // "NEUTRAL", "ENTAILMENT" or "CONTRADICTION"

  bool operator==(const SickPair&) const = default;
};

/// The table as published: columns pair_ID, sentence_A, sentence_B, relatedness_score and entailment_judgment (or
/// entailment_label) with tabs between them, in any order and with others.
class ESPALIER_EXPORT SickReader final : public RecordReader<SickPair> {
 public:
  explicit SickReader(Input input, const ReadOptions& options = {});

 private:
  bool read(SickPair& record) override;
  bool skip() override;

  CsvReader rows_;
  CsvRow row_;
  std::size_t id_, a_, b_, relatedness_, entailment_;
};

/// A sentence with the dependencies of its words.
struct ParsedSentence {
  std::vector<std::string> words;
  std::vector<std::int32_t> heads;  // numbers of words from 1, 0 for the root: one tree, as dependency_tree() takes it
  std::vector<std::string> relations;

  bool operator==(const ParsedSentence&) const = default;
};

struct ParsedPair {
  std::string id;
  ParsedSentence a;
  ParsedSentence b;
  double relatedness = 0;

  bool operator==(const ParsedPair&) const = default;
};

/// A folder in the layout of the Tree-LSTM's data (Tai et al., 2015): a.toks, a.parents and a.rels, the same for b,
/// sim.txt and id.txt, each with one line per pair.
///
/// Refuses files with different numbers of lines, parents and relations that are not as many as the tokens, and parents
/// that are not one tree.
class ESPALIER_EXPORT ParsedSickReader final : public RecordReader<ParsedPair> {
 public:
  static constexpr std::size_t kFiles = 8;

  explicit ParsedSickReader(const std::filesystem::path& folder, const ReadOptions& options = {});
  /// The same from any inputs: tokens, parents and relations of a, those of b, scores, ids.
  explicit ParsedSickReader(const std::array<Input, kFiles>& inputs, const ReadOptions& options = {});

 private:
  bool read(ParsedPair& record) override;
  bool skip() override;
  bool next_lines();
  void read_sentence(ParsedSentence& sentence, std::size_t first_file) const;
  double read_score() const;

  std::array<LineReader, kFiles> files_;
  std::array<std::string, kFiles> lines_;
  bool of_one_length_ = true;  // so far
};

}  // namespace espalier::data
