#include "espalier/base/error.h"

#include <cstddef>
#include <string_view>

namespace espalier {
namespace {

/// How many bytes at the beginning of `text`, which is not empty, are a character that may be shown; 0 if none are:
/// control characters other than tabs and line ends, and what is not UTF-8 (The Unicode Standard, table 3-7).
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const auto follows = [&](std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; ++at)
      if ((byte(at) & 0xC0U) != 0x80U) return false;
    return true;
  };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return (first >= 0x20 && first != 0x7F) || first == '\n' || first == '\t' ? 1 : 0;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return follows(1, 2) && (first > 0xC2 || second >= 0xA0) ? 2 : 0;  // from U+00A0 on
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return follows(1, 3) && !overlong && !surrogate ? 3 : 0;
  }
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool too_large = first == 0xF4 && second > 0x8F;
  return follows(1, 4) && !overlong && !too_large ? 4 : 0;
}

std::string shown(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t count = shown_bytes(text);
    if (count > 0) {
      result += text.substr(0, count);
    } else {
      const auto byte = static_cast<unsigned char>(text[0]);
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xF]};
    }
    text.remove_prefix(count > 0 ? count : 1);
  }
  return result;
}

}  // namespace

Error::Error(const std::string& text) : std::runtime_error(shown(text)) {}

}  // namespace espalier
