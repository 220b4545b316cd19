#include "espalier/data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "espalier/data/text_file.h"

namespace espalier::data {

CsvOptions table_options(std::string_view file) {
  return has_ending(file, {".tsv", ".tab"}) ? tsv_options() : CsvOptions{};
}

CsvReader::CsvReader(Input input, const CsvOptions& table, const ReadOptions& options)
    : RecordReader(options), lines_(std::move(input)), table_(table), names_(table.names) {
  if (!names_.empty()) return;
  if (!read_row(names_)) throw lines_.error_at(1, 1, "expected a line with the names of the columns");
  for (std::size_t c = 0; c < names_.size(); ++c)
    if (std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(c), names_[c]) !=
        names_.begin() + static_cast<std::ptrdiff_t>(c))
      throw error_at(
          c, fmt::format("expected columns of different names, but {} is there twice", data::quoted(names_[c])));
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end())
    throw UsageError(
        fmt::format("{} has no column \"{}\"; it has \"{}\"", lines_.name(), name, fmt::join(names_, "\", \"")));
  return static_cast<std::size_t>(found - names_.begin());
}

DataError CsvReader::error_at(std::size_t field, std::string_view message) const {
  return lines_.error_at(places_[field].line, places_[field].column, message);
}

bool CsvReader::read(CsvRow& record) {
  if (!read_row(record)) return false;
  if (record.size() > names_.size())
    throw error_at(names_.size(), fmt::format("expected the end of the row after {} columns, not {} columns",
                                              names_.size(), record.size()));
  if (record.size() < names_.size())
    throw lines_.error_at(row_lines_.back().size() + 1,
                          fmt::format("expected {} columns, not {}", names_.size(), record.size()));
  return true;
}

bool CsvReader::skip() {
  if (row_lines_.size() > 1)
    lines_.put_back({std::move_iterator(row_lines_.begin() + 1), std::move_iterator(row_lines_.end())});
  row_lines_.clear();
  return lines_.readable();
}

// A line that is refused counts as an empty one of the row.
bool CsvReader::next_line() {
  row_lines_.emplace_back();
  std::string_view line;
  if (!lines_.next(line)) {
    row_lines_.pop_back();
    return false;
  }
  row_lines_.back() = line;
  return true;
}

bool CsvReader::read_row(CsvRow& row) {
  row.clear();
  places_.clear();
  do {
    row_lines_.clear();
    if (!next_line()) return false;
  } while (row_lines_.back().empty());
  for (std::size_t at = 0;; ++at) {
    places_.push_back({lines_.line_number(), at + 1});
    const std::string& line = row_lines_.back();
    if (table_.quote != '\0' && at < line.size() && line[at] == table_.quote) {
      row.push_back(read_quoted(at));
    } else {
      const std::size_t end = std::min(line.find(table_.separator, at), line.size());
      row.push_back(line.substr(at, end - at));
      at = end;
    }
    if (at == row_lines_.back().size()) return true;
  }
}

// `at` goes from the quote that begins a field to the end of the field, which may be in a later line.
std::string CsvReader::read_quoted(std::size_t& at) {
  const Place begin = places_.back();
  const auto refuse_end = [&] {
    return lines_.error_at(begin.line, begin.column, "expected a quote to end the field that begins here");
  };
  std::string field;
  for (++at;;) {
    const std::string& line = row_lines_.back();
    const std::size_t quote = line.find(table_.quote, at);
    field += std::string_view(line).substr(at, quote - at);
    if (quote != std::string::npos) {
      at = quote + 1;
      if (at >= line.size() || line[at] != table_.quote) break;
      field += line[at++];
      continue;
    }
    field += '\n';
    at = 0;
    if (field.size() > LineReader::kLongestLine || !next_line()) throw refuse_end();
  }
  end_quoted(at);
  return field;
}

void CsvReader::end_quoted(std::size_t at) const {
  const std::string& line = row_lines_.back();
  if (at < line.size() && line[at] != table_.separator)
    throw lines_.error_at(at + 1, fmt::format("expected {} or the end of the row after the closing quote, not {}",
                                              data::quoted({&table_.separator, 1}), data::quoted({&line[at], 1})));
}

}  // namespace espalier::data
