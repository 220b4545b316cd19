#include "espalier/data/conll.h"

#include <fmt/format.h>

#include <utility>

#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

constexpr std::string_view kConllSpace = " \t";
constexpr std::string_view kDocumentMark = "-DOCSTART-";

bool is_blank(std::string_view line) { return line.find_first_not_of(kConllSpace) == std::string_view::npos; }

}  // namespace

ConllReader::ConllReader(Input input, const ConllOptions& columns, const ReadOptions& options)
    : RecordReader(options), lines_(std::move(input)), options_(columns) {}

bool ConllReader::read(TaggedSentence& record) {
  while (read_sentence(record)) {
    if (record.words.front() == kDocumentMark) continue;
    if (!options_.scheme) return true;
    if (const std::optional<TagError> error = find_tag_error(record.tags, *options_.scheme))
      throw lines_.error_at(tag_places_[error->word].line, tag_places_[error->word].column, error->message);
    return true;
  }
  return false;
}

bool ConllReader::skip() { return !in_sentence_ || lines_.skip_to(is_blank); }

bool ConllReader::read_sentence(TaggedSentence& record) {
  record.words.clear();
  record.tags.clear();
  tag_places_.clear();
  in_sentence_ = true;  // also of a line that LineReader refuses
  for (std::string_view line; lines_.next(line);) {
    if (!options_.comment.empty() && line.starts_with(options_.comment)) continue;
    if (!is_blank(line)) {
      read_line(record, line);
    } else if (!record.words.empty()) {
      break;
    }
  }
  in_sentence_ = false;
  return !record.words.empty();
}

void ConllReader::read_line(TaggedSentence& record, std::string_view line) {
  split(line);
  std::string_view word = column(line, options_.word_column, "word");
  const std::string_view tag = column(line, options_.tag_column, "tag");
  const bool mark = word == kDocumentMark || (!record.words.empty() && record.words.front() == kDocumentMark);
  if (column_count_ == 0 && !mark) column_count_ = columns_.size();
  if (!mark && columns_.size() != column_count_)
    throw lines_.error_at(
        1, fmt::format("expected {} columns as in the lines before, not {}", column_count_, columns_.size()));
  if (options_.drop_places && !mark) word = without_place(line, word);
  record.words.emplace_back(word);
  record.tags.emplace_back(tag);
  tag_places_.push_back({lines_.line_number(), static_cast<std::size_t>(tag.data() - line.data()) + 1});
}

void ConllReader::split(std::string_view line) {
  columns_.clear();
  const bool any_space = options_.separator == ' ';
  const std::string_view separators = any_space ? kConllSpace : std::string_view(&options_.separator, 1);
  std::size_t begin = any_space ? line.find_first_not_of(separators) : 0;
  while (begin != std::string_view::npos) {
    const std::size_t end = line.find_first_of(separators, begin);
    columns_.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return;
    begin = any_space ? line.find_first_not_of(separators, end) : end + 1;
  }
}

std::string_view ConllReader::column(std::string_view line, std::int32_t number, std::string_view name) const {
  const auto count = static_cast<std::int32_t>(columns_.size());
  const std::int32_t place = number < 0 ? count + number : number;
  // A line of one column has no tag beside its word.
  if (place < 0 || place >= count || (count == 1 && options_.word_column != options_.tag_column))
    throw lines_.error_at(line.size() + 1, fmt::format("expected a word and a tag in columns, not {} column{}", count,
                                                       count == 1 ? "" : "s"));
  const std::string_view text = columns_[static_cast<std::size_t>(place)];
  if (text.empty())
    throw lines_.error_at(static_cast<std::size_t>(text.data() - line.data()) + 1,
                          fmt::format("expected a {}, not an empty column", name));
  return text;
}

std::string_view ConllReader::without_place(std::string_view line, std::string_view word) const {
  // The first character may be a digit too.
  const std::size_t text = word.find_last_not_of("0123456789") + 1;
  const std::string_view character = word.substr(0, text == 0 ? 1 : text);
  if (character.size() == word.size())
    throw lines_.error_at(static_cast<std::size_t>(word.data() - line.data()) + 1,
                          fmt::format("expected a character and its place in digits, not {}", quoted(word)));
  return character;
}

}  // namespace espalier::data
