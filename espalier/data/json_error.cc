#include "espalier/data/json_error.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/data/text_file.h"
#include "espalier/data/utf8.h"

namespace espalier::data {
namespace {

constexpr std::string_view kSpace = " \t\n\r";
constexpr std::string_view kTokenEnds = " \t\n\r,:[]{}\"";

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// One pass over the text, without recursion, that stops at the first mistake.
class Scanner {
 public:
  explicit Scanner(const TextSource& source) : source_(source), text_(source.text) {}

  void scan() {
    Next next = Next::kValue;
    while (true) {
      at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
      if (next == Next::kEnd && at_ == text_.size()) return;
      next = step(next);
    }
  }

 private:
  enum class Next { kValue, kValueOrClose, kKey, kKeyOrClose, kColon, kCommaOrClose, kEnd };

  Next step(Next next) {
    switch (next) {
      case Next::kValue: return value("a value");
      case Next::kValueOrClose: return seen(']') ? close() : value("a value or ']'");
      case Next::kKey: return key("a key in quotes");
      case Next::kKeyOrClose: return seen('}') ? close() : key("a key in quotes or '}'");
      case Next::kColon:
        if (!seen(':')) refuse("':' after the key");
        ++at_;
        return Next::kValue;
      case Next::kCommaOrClose: return comma_or_close();
      case Next::kEnd: refuse("the end of the text");
    }
    throw InternalError("reading JSON has a state that is none");
  }

  bool seen(char c) const { return at_ < text_.size() && text_[at_] == c; }

  Next value(std::string_view expected) {
    if (at_ == text_.size()) refuse(expected);
    switch (text_[at_]) {
      case '[':
      case '{': opened_.push_back(at_); return text_[at_++] == '[' ? Next::kValueOrClose : Next::kKeyOrClose;
      case '"': string(); break;
      default: scalar(expected);
    }
    return after_value();
  }

  Next key(std::string_view expected) {
    if (!seen('"')) refuse(expected);
    string();
    return Next::kColon;
  }

  Next comma_or_close() {
    const bool list = text_[opened_.back()] == '[';
    if (seen(list ? ']' : '}')) return close();
    if (!seen(','))
      refuse(fmt::format("',' or '{}' in the {} opened at {}", list ? ']' : '}', list ? "list" : "object",
                         source_.place(opened_.back())));
    ++at_;
    return list ? Next::kValue : Next::kKey;
  }

  Next close() {
    opened_.pop_back();
    ++at_;
    return after_value();
  }

  Next after_value() const { return opened_.empty() ? Next::kEnd : Next::kCommaOrClose; }

  void string() {
    const std::size_t begin = at_++;
    while (!seen('"')) {
      if (at_ == text_.size()) refuse(fmt::format("'\"' to end the string that begins at {}", source_.place(begin)));
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20) refuse("a control character in a string to be escaped", 1);
      if (c == '\\') {
        escape();
      } else {
        const std::size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        const std::string_view letter = text_.substr(at_, length);
        if (!is_utf8(letter)) refuse("UTF-8", length);
        at_ += length;
      }
    }
    ++at_;
  }

  void escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c != 'u') {
      if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos)
        refuse("one of \" \\ / b f n r t u after a backslash", 2);
      at_ += 2;
      return;
    }
    const std::uint32_t unit = utf16_unit();
    const bool low = unit >= 0xDC00 && unit < 0xE000;
    if (low) refuse("the first half of a surrogate pair before its second", 6);
    at_ += 6;
    if (unit < 0xD800 || unit >= 0xE000) return;
    if (text_.substr(at_, 2) != "\\u") refuse("the second half of a surrogate pair", 6);
    const std::uint32_t second = utf16_unit();
    if (second < 0xDC00 || second >= 0xE000) refuse("the second half of a surrogate pair", 6);
    at_ += 6;
  }

  // Of the \uNNNN that begins here.
  std::uint32_t utf16_unit() const {
    const std::string_view digits = text_.substr(at_ + 2, 4);
    if (digits.size() < 4 || !std::all_of(digits.begin(), digits.end(), is_hex))
      refuse("four hexadecimal digits after \\u", 6);
    return static_cast<std::uint32_t>(std::stoul(std::string(digits), nullptr, 16));
  }

  void scalar(std::string_view expected) {
    const std::string_view token = text_.substr(at_, token_length());
    if (token[0] == '-' || (token[0] >= '0' && token[0] <= '9')) {
      number(token);
    } else if (token != "true" && token != "false" && token != "null") {
      refuse(expected);
    }
    at_ += token.size();
  }

  // What numbers look like in JSON, and which fit, is simdjson's to say.
  void number(std::string_view token) const {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    const bool number = parser.parse(token.data(), token.size()).get(element) == simdjson::SUCCESS;
    if (number && element.type() != simdjson::dom::element_type::UINT64) return;
    const std::string_view digits = token.substr(token[0] == '-' ? 1 : 0);
    const bool integer = digits.find_first_not_of("0123456789") == std::string_view::npos && !digits.starts_with('0');
    if (integer && !digits.empty()) refuse("an integer from -2^63 to 2^63 - 1");
    refuse("a number in the form that JSON has, and not beyond the largest double");
  }

  std::size_t token_length() const {
    const std::size_t end = std::min(text_.find_first_of(kTokenEnds, at_), text_.size());
    return std::max(end - at_, std::size_t{1});
  }

  [[noreturn]] void refuse(std::string_view expected) const { refuse(expected, token_length_or_end()); }
  [[noreturn]] void refuse(std::string_view expected, std::size_t length) const {
    const std::string found = at_ < text_.size() ? quoted(text_.substr(at_, length)) : "the end of the text";
    throw source_.error_at(at_, fmt::format("expected {}, not {}", expected, found));
  }
  std::size_t token_length_or_end() const { return at_ < text_.size() ? token_length() : 0; }

  const TextSource& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> opened_;  // where the lists and objects begin that are not closed yet
};

}  // namespace

void refuse_json(const TextSource& source, std::string_view reason) {
  Scanner(source).scan();
  throw InternalError(fmt::format("{}: JSON was refused in which nothing is wrong: {}", source.name, reason));
}

void refuse_json_object(const TextSource& source, std::size_t before, std::string_view message) {
  const std::string_view text = source.text;
  std::size_t at = 0;
  for (bool in_string = false; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\') ++at;
    if (c == '"') in_string = !in_string;
    if (!in_string && c == '{' && before-- == 0) break;
  }
  throw source.error_at(at, message);
}

}  // namespace espalier::data
