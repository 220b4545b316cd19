/// Lists of names in one text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::models {

/// The texts between commas, without empty ones.
inline std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace espalier::models
