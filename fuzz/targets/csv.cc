/// CSV and TSV.
#include "espalier/data/csv.h"

#include "fuzz/reader.h"

namespace espalier::fuzz {
namespace {

/// The fields in quotes, as a line of CSV.
std::string line_of(const data::CsvRow& fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += line.empty() ? "\"" : ",\"";
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return line + "\r\n";
}

/// Rows without the carriage returns before line ends in quoted fields: readers take "\r\n" as "\n".
std::vector<data::CsvRow> with_plain_line_ends(std::vector<data::CsvRow> rows) {
  for (data::CsvRow& row : rows)
    for (std::string& field : row)
      for (std::size_t at = 0; (at = field.find('\n', at)) != std::string::npos; ++at)
        for (; at > 0 && field[at - 1] == '\r'; --at) field.erase(at - 1, 1);
  return rows;
}

}  // namespace

void csv(std::string_view input) {
  read_text<data::CsvReader>(input, data::tsv_options());
  read_text<data::CsvReader>(input, data::CsvOptions{.quote = '\'', .names = {"a", "b"}});
  const std::vector<data::CsvRow> rows = read_text<data::CsvReader>(input, data::CsvOptions{});
  if (rows.empty()) return;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows[0].size(); ++i) names.push_back(std::to_string(i));
  std::string table = line_of(names);
  for (const data::CsvRow& row : rows) {
    check(row.size() == names.size(), "rows have a field per column");
    table += line_of(row);
  }
  check(with_plain_line_ends(read_text<data::CsvReader>(table, data::CsvOptions{})) == with_plain_line_ends(rows),
        "rows that were written read back the same");
}

}  // namespace espalier::fuzz
