#include "espalier/data/conllu.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "espalier/data/dependency.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

constexpr std::array<std::string_view, 10> kConlluColumns = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                                             "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
enum ConlluColumn : std::size_t { kId, kForm, kLemma, kUpos, kXpos, kFeats, kHead, kDeprel, kDeps, kMisc };

}  // namespace

/// A line in its ten columns.
class ConlluReader::Line {
 public:
  Line(const LineReader& lines, std::string_view line) : lines_(lines), line_(line) {
    std::size_t begin = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t tab = line.find('\t', begin);
      const std::string_view text = line.substr(begin, tab - begin);
      const bool last = c + 1 == columns_.size();
      if ((tab == std::string_view::npos) != last)
        throw lines.error_at((last ? tab : line.size()) + 1,
                             fmt::format("expected ten columns with tabs between them, not {}",
                                         last ? std::string("an eleventh") : std::to_string(c + 1)));
      if (text.empty())
        throw lines.error_at(begin + 1, fmt::format("expected text or \"_\" in the column {}", kConlluColumns[c]));
      columns_[c] = text;
      begin = tab + 1;
    }
  }

  std::string_view operator[](ConlluColumn column) const { return columns_[column]; }
  std::string text(ConlluColumn column) const { return std::string(columns_[column]); }
  std::size_t place(ConlluColumn column) const {
    return static_cast<std::size_t>(columns_[column].data() - line_.data()) + 1;
  }
  DataError refusal(ConlluColumn column, std::string_view expected) const {
    return lines_.error_at(place(column), fmt::format("expected {}, not {}", expected, quoted(columns_[column])));
  }
  /// A part of a column as a number.
  std::int32_t number(ConlluColumn column, std::string_view text, std::string_view expected) const {
    std::int32_t number = -1;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0)
      throw refusal(column, expected);
    return number;
  }
  ConlluWord word() const {
    ConlluWord word{.form = text(kForm),
                    .lemma = text(kLemma),
                    .upos = text(kUpos),
                    .xpos = text(kXpos),
                    .feats = text(kFeats),
                    .deprel = text(kDeprel),
                    .deps = text(kDeps),
                    .misc = text(kMisc)};
    if (columns_[kHead] != "_") word.head = number(kHead, columns_[kHead], "the number of a word, 0 or \"_\"");
    return word;
  }

 private:
  const LineReader& lines_;
  std::string_view line_;
  std::array<std::string_view, kConlluColumns.size()> columns_;
};

std::optional<std::string_view> ConlluSentence::metadata(std::string_view key) const {
  for (const std::string& comment : comments) {
    std::string_view text = comment;
    if (!text.starts_with(key)) continue;
    text.remove_prefix(key.size());
    const std::size_t equals = text.find_first_not_of(' ');
    if (equals == std::string_view::npos || text[equals] != '=') continue;
    const std::size_t value = text.find_first_not_of(' ', equals + 1);
    return value == std::string_view::npos ? std::string_view() : text.substr(value);
  }
  return std::nullopt;
}

std::vector<std::int32_t> ConlluSentence::heads() const {
  std::vector<std::int32_t> heads;
  heads.reserve(words.size());
  for (const ConlluWord& word : words) heads.push_back(word.head);
  return heads;
}

ConlluReader::ConlluReader(Input input, const ConlluOptions& sentence, const ReadOptions& options)
    : RecordReader(options), lines_(std::move(input)), sentence_(sentence) {}

bool ConlluReader::read(ConlluSentence& record) {
  record.comments.clear();
  record.words.clear();
  record.tokens.clear();
  record.empty_nodes.clear();
  head_places_.clear();
  token_places_.clear();
  begun_ = false;
  in_sentence_ = true;  // also of a line that LineReader refuses
  for (std::string_view line; lines_.next(line);) {
    if (!line.empty()) {
      read_line(record, line);
      continue;
    }
    if (!begun_) continue;
    in_sentence_ = false;
    check(record);
    return true;
  }
  if (!begun_) return false;
  in_sentence_ = false;
  check(record);
  return true;
}

bool ConlluReader::skip() {
  return !in_sentence_ || lines_.skip_to([](std::string_view line) { return line.empty(); });
}

void ConlluReader::read_line(ConlluSentence& record, std::string_view line) {
  if (line.front() == '#') {
    line.remove_prefix(1);
    record.comments.emplace_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    return;
  }
  begun_ = true;
  const Line columns(lines_, line);
  const std::string_view id = columns[kId];
  if (const std::size_t dash = id.find('-'); dash != std::string_view::npos) return read_token(record, columns, dash);
  if (const std::size_t point = id.find('.'); point != std::string_view::npos)
    return read_empty_node(record, columns, point);
  const auto expected = static_cast<std::int32_t>(record.words.size()) + 1;
  const std::string what = fmt::format("the id {}, {}-N or {}.1", expected, expected, expected - 1);
  if (columns.number(kId, id, what) != expected) throw columns.refusal(kId, what);
  record.words.push_back(columns.word());
  head_places_.push_back({lines_.line_number(), columns.place(kHead)});
}

void ConlluReader::read_token(ConlluSentence& record, const Line& line, std::size_t dash) {
  constexpr std::string_view kRange = "a range of words such as \"3-4\"";
  ConlluToken token{.first = line.number(kId, line[kId].substr(0, dash), kRange),
                    .last = line.number(kId, line[kId].substr(dash + 1), kRange),
                    .form = line.text(kForm),
                    .misc = line.text(kMisc)};
  const auto next = static_cast<std::int32_t>(record.words.size()) + 1;
  if (token.first != next || token.last <= token.first)
    throw line.refusal(kId, fmt::format("a range of words that begins with the next word, {}", next));
  if (!record.tokens.empty() && record.tokens.back().last >= token.first)
    throw line.refusal(kId, fmt::format("a range that does not overlap the one up to {}", record.tokens.back().last));
  record.tokens.push_back(std::move(token));
  token_places_.push_back({lines_.line_number(), line.place(kId)});
}

void ConlluReader::read_empty_node(ConlluSentence& record, const Line& line, std::size_t point) const {
  constexpr std::string_view kEmptyNode = "the id of an empty node such as \"8.1\"";
  ConlluEmptyNode node{.after = line.number(kId, line[kId].substr(0, point), kEmptyNode),
                       .number = line.number(kId, line[kId].substr(point + 1), kEmptyNode),
                       .word = line.word()};
  const auto words = static_cast<std::int32_t>(record.words.size());
  const bool another = !record.empty_nodes.empty() && record.empty_nodes.back().after == words;
  const std::int32_t number = another ? record.empty_nodes.back().number + 1 : 1;
  if (node.after != words || node.number != number)
    throw line.refusal(kId, fmt::format("the id {}.{} of an empty node", words, number));
  record.empty_nodes.push_back(std::move(node));
}

void ConlluReader::check(const ConlluSentence& record) const {
  if (record.words.empty()) throw lines_.error_at(1, "expected at least one word in the sentence before");
  const auto words = static_cast<std::int32_t>(record.words.size());
  if (!record.tokens.empty() && record.tokens.back().last > words)
    throw lines_.error_at(token_places_.back().line, token_places_.back().column,
                          fmt::format("expected a range of words up to {}, the last, not {}-{}", words,
                                      record.tokens.back().first, record.tokens.back().last));
  const auto refuse_head = [&](std::size_t word, std::string_view message) {
    throw lines_.error_at(head_places_[word].line, head_places_[word].column, message);
  };
  if (sentence_.require_tree) {
    for (std::size_t w = 0; w < record.words.size(); ++w)
      if (record.words[w].head == kNone) refuse_head(w, "expected the number of a word or 0, not \"_\"");
    if (const std::optional<HeadError> error = find_head_error(record.heads()))
      refuse_head(error->word, error->message);
    return;
  }
  for (std::size_t w = 0; w < record.words.size(); ++w)
    if (record.words[w].head > words)
      refuse_head(w, fmt::format("expected a head from 0 to {}, not {}", words, record.words[w].head));
}

}  // namespace espalier::data
