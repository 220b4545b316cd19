#include "espalier/data/text_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier::data {

std::string TextSource::place(std::size_t offset) const {
  const std::string_view before = text.substr(0, offset);
  const std::int64_t line = first_line + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_end = before.rfind('\n');  // of the line above
  const std::size_t column = line_end == std::string_view::npos ? offset + 1 : offset - line_end;
  return fmt::format("{}:{}", line, column);
}

DataError TextSource::error_at(std::size_t offset, std::string_view message) const {
  return DataError(fmt::format("{}:{}: {}", name, place(offset), message));
}

}  // namespace espalier::data
