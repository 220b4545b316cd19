#include "espalier/data/record_reader.h"

#include <fmt/format.h>

namespace espalier::data {

void ReadReport::add_damaged(const DataError& error) {
  ++damaged;
  if (errors.size() < kMostErrors) errors.emplace_back(error.what());
}

std::string ReadReport::summary() const {
  std::string text = fmt::format("{} records read, {} damaged left out", records, damaged);
  for (const std::string& error : errors) text += "\n  " + error;
  if (damaged > static_cast<std::int64_t>(errors.size()))
    text += fmt::format("\n  and {} more", damaged - static_cast<std::int64_t>(errors.size()));
  return text;
}

}  // namespace espalier::data
