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
  check(read_text<data::CsvReader>(table, data::CsvOptions{}) == rows, "rows that were written read back the same");
}

}  // namespace espalier::fuzz
