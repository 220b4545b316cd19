#include "espalier/data/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "espalier/data/number_text.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

std::string_view without_last_spaces(std::string_view line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

std::size_t field_count(std::string_view line) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = line.find_first_not_of(' ', at)) != std::string_view::npos; ++count)
    at = std::min(line.find(' ', at), line.size());
  return count;
}

}  // namespace

WordVectorReader::WordVectorReader(Input input, const WordVectorOptions& vectors, const ReadOptions& options)
    : RecordReader(options),
      lines_(std::move(input)),
      options_(vectors),
      dimension_(static_cast<std::size_t>(std::max(vectors.dimension, 0))) {}

bool WordVectorReader::read(WordVector& record) {
  for (std::string_view line; lines_.next(line);) {
    line = without_last_spaces(line);
    if (line.empty()) continue;
    if (lines_.line_number() == 1 && read_header(line)) continue;
    ++count_;
    if (read_vector(record, line)) return true;
  }
  check_count();
  return false;
}

bool WordVectorReader::read_header(std::string_view line) {
  using Header = WordVectorOptions::Header;
  if (options_.header == Header::kAbsent) return false;
  const std::size_t space = std::min(line.find(' '), line.size());
  const auto count = number_in<std::int64_t>(line.substr(0, space));
  const auto dimension = number_in<std::int32_t>(line.substr(std::min(space + 1, line.size())));
  const bool header = count && dimension && *count >= 0 && *dimension > 0;
  if (!header && options_.header == Header::kAuto) return false;
  if (!header)
    throw lines_.error_at(1,
                          fmt::format("expected the number of words and their dimension, not {}", data::quoted(line)));
  if (dimension_ != 0 && static_cast<std::size_t>(*dimension) != dimension_)
    throw lines_.error_at(space + 2, fmt::format("expected vectors of dimension {}, not {}", dimension_, *dimension));
  dimension_ = static_cast<std::size_t>(*dimension);
  promised_ = *count;
  return true;
}

// Where the first of the last `dimension_` fields begins.
std::size_t WordVectorReader::values_begin(std::string_view line) const {
  std::size_t at = line.size();
  for (std::size_t f = 0; f < dimension_; ++f) {
    const std::size_t last = at == 0 ? std::string_view::npos : line.find_last_not_of(' ', at - 1);
    const std::size_t space = last == std::string_view::npos ? last : line.rfind(' ', last);
    if (space == std::string_view::npos)
      throw lines_.error_at(
          line.size() + 1, fmt::format("expected a word and {} numbers, not {} fields", dimension_, field_count(line)));
    at = space + 1;
  }
  return at;
}

// False if the vector was passed over.
bool WordVectorReader::read_vector(WordVector& record, std::string_view line) {
  if (dimension_ == 0) {
    const std::size_t fields = field_count(line);
    if (fields < 2) throw lines_.error_at(line.size() + 1, "expected a word and at least one number");
    dimension_ = fields - 1;
  }
  const std::size_t begin = values_begin(line);
  const std::string_view word = without_last_spaces(line.substr(0, begin));
  if (word.empty()) throw lines_.error_at(1, "expected a word before the numbers");
  if (const std::size_t space = word.rfind(' ');
      space != std::string_view::npos && number_in<float>(word.substr(space + 1)))
    throw lines_.error_at(space + 2,
                          fmt::format("expected a word and {} numbers, not {} fields", dimension_, field_count(line)));
  if (options_.only != nullptr && !options_.only->contains(word)) return false;
  read_values(record.values, line, begin);
  record.word = word;
  return true;
}

void WordVectorReader::read_values(std::vector<float>& values, std::string_view line, std::size_t begin) const {
  values.clear();
  for (std::size_t at = begin; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::optional<float> value = number_in<float>(line.substr(at, end - at));
    if (!value)
      throw lines_.error_at(at + 1, fmt::format("expected a number, not {}", data::quoted(line.substr(at, end - at))));
    values.push_back(*value);
    at = std::min(line.find_first_not_of(' ', end), line.size());
  }
}

void WordVectorReader::check_count() {
  const std::int64_t promised = std::exchange(promised_, -1);
  if (promised >= 0 && promised != count_)
    throw lines_.error_at(lines_.line_number() + 1, 1,
                          fmt::format("expected {} vectors, as the first line says, not {}", promised, count_));
}

WordVectorTable read_word_vectors(Input input, const Vocabulary& words, const WordVectorOptions& vectors,
                                  const ReadOptions& options) {
  WordVectorOptions wanted = vectors;
  wanted.only = &words;
  const std::string name = input.name();
  WordVectorReader reader(std::move(input), wanted, options);
  WordVectorTable table;
  table.found.assign(static_cast<std::size_t>(words.size()), false);
  for (WordVector vector; reader.next(vector);) {
    const auto word = static_cast<std::size_t>(words.id(vector.word));
    const auto dimension = static_cast<std::size_t>(reader.dimension());
    if (table.values.empty()) table.values.assign(table.found.size() * dimension, 0.0F);
    if (table.found[word]) continue;
    table.found[word] = true;
    ++table.found_count;
    std::copy(vector.values.begin(), vector.values.end(),
              table.values.begin() + static_cast<std::ptrdiff_t>(word * dimension));
  }
  table.dimension = reader.dimension();
  table.report = reader.report();
  if (table.dimension == 0) throw DataError(fmt::format("{}: expected at least one vector", name));
  table.values.resize(table.found.size() * static_cast<std::size_t>(table.dimension), 0.0F);
  return table;
}

}  // namespace espalier::data
