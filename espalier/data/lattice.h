/// Word lattices: a sentence of characters, and all words of a lexicon that are in it (Zhang and Yang, 2018).
///
///     data::LexiconReader reader("dict.txt");
///     const data::Lexicon lexicon(reader);
///     const data::Lattice lattice = data::lattice_of("南京市长江大桥", lexicon);
///
/// Thread safety: a Lexicon that does not change may be read by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"

namespace espalier::data {

struct LexiconEntry {
  std::string word;
  std::int64_t frequency = 0;  // 0 if the line has none
  std::string tag;             // empty if the line has none

  bool operator==(const LexiconEntry&) const = default;
};

/// Lines of a word, its frequency and its tag, with one space between them; the last two may be missing. Blank lines
/// are left out.
class ESPALIER_EXPORT LexiconReader final : public RecordReader<LexiconEntry> {
 public:
  explicit LexiconReader(Input input, const ReadOptions& options = {})
      : RecordReader(options), lines_(std::move(input)) {}

 private:
  bool read(LexiconEntry& record) override;
  bool skip() override { return lines_.readable(); }

  LineReader lines_;
};

/// A word of a lexicon in a sentence: it covers the characters begin to end - 1.
struct LatticeWord {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t word = 0;  // its number in the lexicon

  bool operator==(const LatticeWord&) const = default;
};

struct Lattice {
  std::vector<std::string> characters;
  std::vector<LatticeWord> words;  // by their end, and the shorter first

  bool operator==(const Lattice&) const = default;
};

class ESPALIER_EXPORT Lexicon {
 public:
  Lexicon() = default;
  /// The words of a file that have at least so many characters. They are numbered in the order of the file.
  explicit Lexicon(LexiconReader& reader, std::int32_t least_characters = 2);

  /// The number of the word, which is new unless it was there. Refuses (UsageError) an empty word.
  std::int32_t add(std::string_view word);
  std::int32_t size() const { return static_cast<std::int32_t>(words_.size()); }
  const std::string& word(std::int32_t number) const { return words_[static_cast<std::size_t>(number)]; }

  /// All words in a row of characters, by their end, and the shorter first. Costs one search in a hash table per byte
  /// of each stretch that begins a word.
  std::vector<LatticeWord> words_in(std::span<const std::string> characters) const;

 private:
  // A trie over bytes. A node is a number; its edges are in one table for all nodes.
  std::vector<std::string> words_;
  std::unordered_map<std::uint64_t, std::int32_t> edges_;  // by node * 256 + byte
  std::vector<std::int32_t> word_at_ = {-1};               // by node; -1 where no word ends
};

/// The lattice of a sentence, whose characters are code points of UTF-8.
ESPALIER_EXPORT Lattice lattice_of(std::string_view sentence, const Lexicon& lexicon);

}  // namespace espalier::data
