/// Values as s-expressions, without recursion.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/sexpr.h"
#include "espalier/data/sexpr_atom.h"

namespace espalier::data {
namespace {

// Whether the text, written as it is, reads back as the same string.
bool is_symbol(std::string_view text) {
  if (text.empty() || sexpr_atom(text) != SexprAtom::kSymbol) return false;
  return text.find_first_of("()\";") == std::string_view::npos &&
         text.find_first_of(kSexprSpace) == std::string_view::npos;
}

void put_string(std::string& text, std::string_view string) {
  if (is_symbol(string)) {
    text += string;
    return;
  }
  text += '"';
  for (const char c : string) {
    switch (c) {
      case '"': text += "\\\""; break;
      case '\\': text += "\\\\"; break;
      case '\n': text += "\\n"; break;
      case '\t': text += "\\t"; break;
      case '\r': text += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned>(c));
        } else {
          text += c;
        }
    }
  }
  text += '"';
}

void put_scalar(std::string& text, const Value& value) {
  if (value.is_string()) {
    put_string(text, value.as_string());
  } else if (value.is_integer() || (value.is_float() && std::isfinite(value.as_float()))) {
    text += value.to_text();
  } else {
    throw UsageError(fmt::format("s-expressions have lists, strings and finite numbers, but the value is {}",
                                 value.is_float() ? value.to_text() : name_of(value.kind())));
  }
}

}  // namespace

std::string sexpr_text(const Value& value) {
  struct Open {
    const Value* list;
    std::size_t next;
  };
  std::string text;
  std::vector<Open> open;
  const auto put = [&](const Value& part) {
    if (!part.is_list()) return put_scalar(text, part);
    text += '(';
    open.push_back({&part, 0});
  };
  put(value);
  while (!open.empty()) {
    Open& last = open.back();
    if (last.next == last.list->size()) {
      text += ')';
      open.pop_back();
      continue;
    }
    if (last.next > 0) text += ' ';
    put((*last.list)[last.next++]);
  }
  return text;
}

}  // namespace espalier::data
