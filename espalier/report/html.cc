#include "espalier/report/html.h"

#include <array>
#include <cstdint>

namespace espalier::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes of the character at the front of a text, or 0 if they are no UTF-8 (The Unicode Standard, table 3-7).
std::size_t character_bytes(std::string_view text) {
  struct Row {
    unsigned char first_low, first_high, second_low, second_high;
    std::size_t size;
  };
  static constexpr std::array<Row, 9> kRows{{{0x00, 0x7F, 0, 0, 1},
                                             {0xC2, 0xDF, 0x80, 0xBF, 2},
                                             {0xE0, 0xE0, 0xA0, 0xBF, 3},
                                             {0xE1, 0xEC, 0x80, 0xBF, 3},
                                             {0xED, 0xED, 0x80, 0x9F, 3},
                                             {0xEE, 0xEF, 0x80, 0xBF, 3},
                                             {0xF0, 0xF0, 0x90, 0xBF, 4},
                                             {0xF1, 0xF3, 0x80, 0xBF, 4},
                                             {0xF4, 0xF4, 0x80, 0x8F, 4}}};
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (const Row& row : kRows) {
    if (byte(0) < row.first_low || byte(0) > row.first_high) continue;
    if (text.size() < row.size) return 0;
    if (row.size > 1 && (byte(1) < row.second_low || byte(1) > row.second_high)) return 0;
    for (std::size_t i = 2; i < row.size; ++i)
      if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    return row.size;
  }
  return 0;
}

void append_escaped(std::string& html, std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  switch (first) {
    case '&': html += "&amp;"; return;
    case '<': html += "&lt;"; return;
    case '>': html += "&gt;"; return;
    case '"': html += "&quot;"; return;
    case '\'': html += "&#39;"; return;
    default: break;
  }
  const bool is_c1_control = character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  const bool is_no_character = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";  // U+FFFE, U+FFFF
  const bool is_space = first == '\n' || first == '\t';
  if (first == 0x7F) {
    html += "\xE2\x90\xA1";  // U+2421
  } else if (first < 0x20 && !is_space) {
    html += "\xE2\x90";  // U+2400 and so on
    html += static_cast<char>(0x80 + first);
  } else if (is_c1_control || is_no_character) {
    html += kReplacement;
  } else {
    html += character;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    if (size == 0) {
      html += kReplacement;
    } else {
      append_escaped(html, text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return html;
}

Clipped clipped(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    if (count == most) return {text.substr(0, at), false};
    const std::size_t size = character_bytes(text.substr(at));
    at += size == 0 ? 1 : size;
  }
  return {text, true};
}

std::string isolated(std::string_view text) { return "<bdi>" + escaped(text) + "</bdi>"; }

std::string isolated_start(std::string_view text, std::size_t most) {
  const Clipped start = clipped(text, most);
  return isolated(start.text) + (start.whole ? "" : "…");
}

}  // namespace espalier::report
