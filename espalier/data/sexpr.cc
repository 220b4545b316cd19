#include "espalier/data/sexpr.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/byte_file.h"
#include "espalier/data/sexpr_atom.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

/// A byte of the source, by line and column from 1.
struct Place {
  std::int64_t line = 1;
  std::int64_t column = 1;

  std::string text() const { return fmt::format("{}:{}", line, column); }
};

/// Expressions one after the other. Bytes come piece by piece, so a file is never in memory as a whole; nested lists
/// are on a stack of our own.
class SexprParser {
 public:
  SexprParser(std::string name, std::string text, SexprForm form)
      : name_(std::move(name)), buffer_(std::move(text)), form_(form) {}
  SexprParser(const std::filesystem::path& path, SexprForm form)
      : name_(path.string()), file_(std::make_unique<ByteReader>(path)), form_(form) {}

  /// The next expression; nothing at the end.
  std::optional<Value> next() {
    while (true) {
      skip_space();
      const Place begin = place_;
      if (at_end()) {
        if (!open_.empty()) refuse(begin, fmt::format("')' to close the list opened at {}", open_.back().begin.text()));
        return std::nullopt;
      }
      if (peek() == '(') {
        take();
        open_.push_back({begin, {}});
        continue;
      }
      std::optional<Value> done = peek() == ')' ? close(begin) : atom(begin);
      if (open_.empty()) return done;
      open_.back().items.push_back(std::move(*done));
    }
  }

  void expect_end() {
    skip_space();
    if (!at_end()) refuse(place_, "the end of the text");
  }
  [[noreturn]] void refuse_end() { refuse(place_, "an expression"); }

 private:
  struct Open {
    Place begin;
    std::vector<Value> items;
  };

  bool at_end() {
    if (used_ < buffer_.size()) return false;
    if (!file_ || !file_->read_piece(buffer_)) return true;
    used_ = 0;
    return false;
  }
  char peek() const { return buffer_[used_]; }  // at_end() has said that there is one
  char take() {
    const char c = buffer_[used_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
    return c;
  }

  void skip_space() {
    while (!at_end()) {
      if (is_space(peek())) {
        take();
      } else if (form_ == SexprForm::kLisp && peek() == ';') {
        while (!at_end() && peek() != '\n') take();
      } else {
        return;
      }
    }
  }
  static bool is_space(char c) { return kSexprSpace.find(c) != std::string_view::npos; }

  Value close(Place begin) {
    if (open_.empty()) refuse(begin, "an expression");
    take();
    Value list = Value::list(std::move(open_.back().items));
    open_.pop_back();
    return list;
  }

  Value atom(Place begin) {
    const bool lisp = form_ == SexprForm::kLisp;
    if (lisp && peek() == '"') return quoted_string(begin);
    std::string text;
    while (!at_end() && !is_space(peek()) && peek() != '(' && peek() != ')' &&
           !(lisp && (peek() == '"' || peek() == ';')))
      text += take();
    const SexprAtom kind = sexpr_atom(text);
    const bool label = !open_.empty() && open_.back().items.empty();
    if (kind == SexprAtom::kSymbol || (!lisp && (!label || kind == SexprAtom::kFloat))) return text;
    if (std::optional<Value> number = sexpr_number(text, kind)) return std::move(*number);
    refuse_text(begin,
                kind == SexprAtom::kInteger ? "an integer from -2^63 to 2^63 - 1" : "a number that a double holds",
                text);
  }

  Value quoted_string(Place begin) {
    take();
    std::string text;
    while (true) {
      if (at_end()) refuse(place_, fmt::format("'\"' to end the string that begins at {}", begin.text()));
      const Place here = place_;
      const char c = take();
      if (c == '"') return text;
      text += c == '\\' ? escaped(here) : c;
    }
  }

  // What stands after a backslash.
  char escaped(Place begin) {
    const char c = at_end() ? '\0' : take();
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '"':
      case '\\': return c;
      case 'x': break;
      default: refuse_text(begin, "one of \" \\ n t r x after a backslash", std::string{'\\', c});
    }
    std::string digits;
    while (digits.size() < 2 && !at_end() && peek() != '"') digits += take();
    unsigned byte = 0;
    const char* end = digits.data() + digits.size();
    if (digits.size() < 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end)
      refuse_text(begin, "two hexadecimal digits after \\x", "\\x" + digits);
    return static_cast<char>(byte);
  }

  [[noreturn]] void refuse(Place place, std::string_view expected) {
    if (!at_end()) refuse_text(place, expected, std::string_view(buffer_).substr(used_, 1));
    throw DataError(fmt::format("{}:{}: expected {}, not the end of the text", name_, place.text(), expected));
  }
  [[noreturn]] void refuse_text(Place place, std::string_view expected, std::string_view found) const {
    throw DataError(fmt::format("{}:{}: expected {}, not {}", name_, place.text(), expected, quoted(found)));
  }

  std::string name_;
  std::unique_ptr<ByteReader> file_;
  std::string buffer_;
  std::size_t used_ = 0;
  SexprForm form_;
  Place place_;
  std::vector<Open> open_;  // the lists that are not closed yet, the outermost first
};

ValueStream stream_of(std::shared_ptr<SexprParser> parser) {
  return ValueStream([parser = std::move(parser)] { return parser->next(); });
}

}  // namespace

Value parse_sexpr(std::string_view text, SexprForm form, std::string_view source) {
  SexprParser parser(std::string(source), std::string(text), form);
  std::optional<Value> value = parser.next();
  if (!value) parser.refuse_end();
  parser.expect_end();
  return std::move(*value);
}

ValueStream parse_sexprs(std::string text, SexprForm form, std::string_view source) {
  return stream_of(std::make_shared<SexprParser>(std::string(source), std::move(text), form));
}

ValueStream read_sexprs(const std::filesystem::path& path, SexprForm form) {
  return stream_of(std::make_shared<SexprParser>(path, form));
}

}  // namespace espalier::data
