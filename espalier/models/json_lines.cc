#include "espalier/models/json_lines.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/data/json.h"

namespace espalier::models {

JsonLinesReader::JsonLinesReader(data::Input input, const data::ReadOptions& options)
    : RecordReader(options), lines_(std::move(input)) {}

bool JsonLinesReader::read(JsonLine& record) {
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
  record.place = fmt::format("{}:{}", lines_.name(), lines_.line_number());
  try {
    record.value = data::parse_json(line, lines_.name());
  } catch (const DataError& error) {
    const std::string first_line = lines_.name() + ":1:";  // the text is a line of its own to the parser
    const std::string_view text = error.what();
    if (!text.starts_with(first_line)) throw;
    throw DataError(fmt::format("{}:{}", record.place, text.substr(first_line.size())));
  }
  return true;
}

}  // namespace espalier::models
