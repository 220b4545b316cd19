#include "espalier/data/utf8.h"

#include <simdjson.h>

namespace espalier::data {

bool is_utf8(std::string_view bytes) { return simdjson::validate_utf8(bytes); }

std::size_t first_not_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (!is_utf8(bytes.substr(at, length))) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= text.size(); ++at) {
    if (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) continue;
    characters.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  return characters;
}

}  // namespace espalier::data
