/// Tables in text: CSV (RFC 4180) and TSV, with the names of the columns in the first line.
///
///     data::CsvReader reader("molecules.csv");
///     const std::size_t smiles = reader.column("smiles");
///     for (data::CsvRow row; reader.next(row);) use(row[smiles]);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"

namespace espalier::data {

/// The fields of a row, one per column.
using CsvRow = std::vector<std::string>;

struct CsvOptions {
  char separator = ',';
  /// A field in quotes may hold separators, line ends (read as "\n", also if they are "\r\n"), and quotes written
  /// twice. A quote inside a field that does not begin with one is an ordinary character. 0: quotes have no meaning.
  char quote = '"';
  /// The names of the columns of a table whose first line is a row already.
  std::vector<std::string> names{};
};

/// Tabs between the fields; quotes have no meaning.
inline CsvOptions tsv_options() { return {.separator = '\t', .quote = '\0'}; }
/// Of a file: tabs if its name ends with .tsv or .tab, else commas.
ESPALIER_EXPORT CsvOptions table_options(std::string_view file);

/// Blank lines are left out. Refuses a table without a header, columns of the same name, rows with another number of
/// fields, text after a closing quote, a quoted field that does not end, and a row of more than 16 MiB. After a damaged
/// row reading goes on with the line after the row's first.
class ESPALIER_EXPORT CsvReader final : public RecordReader<CsvRow> {
 public:
  explicit CsvReader(Input input, const CsvOptions& table = {}, const ReadOptions& options = {});

  const std::vector<std::string>& names() const { return names_; }
  /// The number of the column of this name, from 0. Refuses (UsageError) a name that is not there.
  std::size_t column(std::string_view name) const;
  /// A DataError at a field of the row read last.
  DataError error_at(std::size_t field, std::string_view message) const;
  /// False once the input cannot be read any further.
  bool readable() const { return lines_.readable(); }

 private:
  struct Place {
    std::int64_t line;
    std::size_t column;
  };

  bool read(CsvRow& record) override;
  bool skip() override;
  bool read_row(CsvRow& row);
  bool next_line();
  std::string read_quoted(std::size_t& at);
  void end_quoted(std::size_t at) const;

  LineReader lines_;
  CsvOptions table_;
  std::vector<std::string> names_;
  std::vector<std::string> row_lines_;  // all lines of the row being read
  std::vector<Place> places_;           // of its fields
};

}  // namespace espalier::data
