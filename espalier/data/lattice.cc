#include "espalier/data/lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "espalier/base/error.h"
#include "espalier/data/number_text.h"
#include "espalier/data/text_file.h"
#include "espalier/data/utf8.h"

namespace espalier::data {
namespace {

std::uint64_t edge_key(std::int32_t node, char byte) {
  return static_cast<std::uint64_t>(node) * 256 + static_cast<unsigned char>(byte);
}

}  // namespace

bool LexiconReader::read(LexiconEntry& record) {
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (line.empty());
  const std::size_t word_end = std::min(line.find(' '), line.size());
  if (word_end == 0) throw lines_.error_at(1, "expected a word at the beginning of the line");
  record = {std::string(line.substr(0, word_end)), 0, {}};
  if (word_end == line.size()) return true;
  const std::size_t begin = word_end + 1;
  const std::size_t end = std::min(line.find(' ', begin), line.size());
  const std::optional<std::int64_t> frequency = number_in<std::int64_t>(line.substr(begin, end - begin));
  if (!frequency || *frequency < 0)
    throw lines_.error_at(begin + 1, fmt::format("expected a frequency after the word, not {}",
                                                 data::quoted(line.substr(begin, end - begin))));
  record.frequency = *frequency;
  record.tag = line.substr(std::min(end + 1, line.size()));
  return true;
}

Lexicon::Lexicon(LexiconReader& reader, std::int32_t least_characters) {
  for (LexiconEntry entry; reader.next(entry);)
    if (characters_of(entry.word).size() >= static_cast<std::size_t>(least_characters)) add(entry.word);
}

std::int32_t Lexicon::add(std::string_view word) {
  if (word.empty()) throw UsageError("lexicon: a word without characters");
  std::int32_t node = 0;
  for (const char byte : word) {
    const auto [edge, added] = edges_.try_emplace(edge_key(node, byte), static_cast<std::int32_t>(word_at_.size()));
    if (added) word_at_.push_back(-1);
    node = edge->second;
  }
  std::int32_t& number = word_at_[static_cast<std::size_t>(node)];
  if (number < 0) {
    number = size();
    words_.emplace_back(word);
  }
  return number;
}

std::vector<LatticeWord> Lexicon::words_in(std::span<const std::string> characters) const {
  std::vector<LatticeWord> found;
  for (std::size_t begin = 0; begin < characters.size(); ++begin) {
    std::int32_t node = 0;
    for (std::size_t end = begin; end < characters.size() && node >= 0;) {
      for (const char byte : characters[end]) {
        const auto edge = edges_.find(edge_key(node, byte));
        node = edge == edges_.end() ? -1 : edge->second;
        if (node < 0) break;
      }
      ++end;
      if (node > 0 && word_at_[static_cast<std::size_t>(node)] >= 0)
        found.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                         word_at_[static_cast<std::size_t>(node)]});
    }
  }
  std::sort(found.begin(), found.end(), [](const LatticeWord& a, const LatticeWord& b) {
    return std::tuple(a.end, -a.begin) < std::tuple(b.end, -b.begin);
  });
  return found;
}

Lattice lattice_of(std::string_view sentence, const Lexicon& lexicon) {
  Lattice lattice;
  for (const std::string_view character : characters_of(sentence)) lattice.characters.emplace_back(character);
  lattice.words = lexicon.words_in(lattice.characters);
  return lattice;
}

}  // namespace espalier::data
