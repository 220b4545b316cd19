#include "espalier/show/json_text.h"

#include <fmt/format.h>

#include "espalier/report/html.h"

namespace espalier::show {

std::string json_text(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const report::Clipped first = report::clipped(text, 1);
    const std::size_t size = first.whole ? text.size() : first.text.size();
    const auto byte = static_cast<unsigned char>(text[0]);
    if (size == 1 && (byte < 0x20 || byte == 0x7F || byte == '<' || byte == '>' || byte == '&' || byte == '"' ||
                      byte == '\\' || byte == '\'')) {
      json += fmt::format("\\u{:04x}", byte);
    } else if (size == 1 && byte >= 0x80) {
      json += "\\ufffd";
    } else if (text.substr(0, size) == "\u2028" || text.substr(0, size) == "\u2029") {
      json += text[2] == '\xA8' ? "\\u2028" : "\\u2029";
    } else {
      json += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return json + "\"";
}

}  // namespace espalier::show
