/// The characters of UTF-8 text.
#pragma once

#include <string_view>
#include <vector>

namespace espalier::bench {

/// Each as its bytes. Bytes that continue no character are counted to the one before them.
inline std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= text.size(); ++at) {
    if (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) continue;
    characters.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  return characters;
}

}  // namespace espalier::bench
