/// A Value as compact JSON, without recursion.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "espalier/data/short_text.h"

namespace espalier {
namespace {

class Writer {
 public:
  /// Stops soon after `most` characters.
  std::string write(const Value& value, std::size_t most = std::string::npos) {
    put(value);
    while (!open_.empty() && text_.size() <= most) {
      Open& last = open_.back();
      const Value& container = *last.container;
      if (last.next == container.size()) {
        text_ += container.is_list() ? ']' : '}';
        open_.pop_back();
        continue;
      }
      const std::size_t place = last.next++;
      if (place > 0) text_ += ',';
      if (container.is_list()) {
        put(container[place]);
      } else {
        const Value::Entry& entry = container.entries()[place];
        put_string(entry.key);
        text_ += ':';
        put(entry.value);
      }
    }
    return std::move(text_);
  }

 private:
  // A list or map of which the items before `next` are written.
  struct Open {
    const Value* container;
    std::size_t next;
  };

  void put(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::kNull: text_ += "null"; break;
      case Value::Kind::kBool: text_ += value.as_bool() ? "true" : "false"; break;
      case Value::Kind::kInteger: fmt::format_to(std::back_inserter(text_), "{}", value.as_integer()); break;
      case Value::Kind::kFloat: put_float(value.as_float()); break;
      case Value::Kind::kString: put_string(value.as_string()); break;
      case Value::Kind::kList: open(value, '['); break;
      case Value::Kind::kMap: open(value, '{'); break;
    }
  }

  void open(const Value& container, char bracket) {
    text_ += bracket;
    open_.push_back({&container, 0});
  }

  void put_float(double number) {
    if (std::isnan(number)) {
      text_ += "NaN";
    } else if (std::isinf(number)) {
      text_ += number < 0 ? "-Infinity" : "Infinity";
    } else {
      const std::string digits = fmt::format("{}", number);
      text_ += digits;
      if (digits.find_first_of(".e") == std::string::npos) text_ += ".0";
    }
  }

  void put_string(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
      switch (c) {
        case '"': text_ += "\\\""; break;
        case '\\': text_ += "\\\\"; break;
        case '\n': text_ += "\\n"; break;
        case '\r': text_ += "\\r"; break;
        case '\t': text_ += "\\t"; break;
        default:
          if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<unsigned>(c));
          } else {
            text_ += c;
          }
      }
    }
    text_ += '"';
  }

  std::string text_;
  std::vector<Open> open_;
};

}  // namespace

std::string Value::to_text() const { return Writer().write(*this); }

std::string short_text(const Value& value, std::size_t most) {
  std::string text = Writer().write(value, most);
  if (text.size() > most) text.replace(most, std::string::npos, "...");
  return text;
}

}  // namespace espalier
