#include "espalier/blocks/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/blocks/input_type.h"
#include "espalier/data/value.h"

namespace espalier::blocks {
namespace {

/// Reads the text form, one character after the other.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Type whole() {
    Type type = next();
    if (at_ != text_.size()) refuse("nothing more");
    return type;
  }

 private:
  [[noreturn]] void refuse(std::string_view expected) const {
    throw UsageError(fmt::format("type: expected {} at position {} of \"{}\"", expected, at_, text_));
  }
  bool take(std::string_view word) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) refuse(fmt::format("\"{}\"", word));
  }

  Type next() {
    if (take("void")) return {};
    if (take("float")) return Type::tensor(shape());
    if (take("seq<")) return closed(&Type::sequence);
    if (take("inf<")) return closed(&Type::infinite);
    if (take("input<")) return input();
    if (take("(")) return tuple();
    refuse("a type");
  }
  Type closed(Type (*make)(const Type&)) {
    const Type element = next();
    need(">");
    return make(element);
  }
  Type tuple() {
    std::vector<Type> items;
    if (take(")")) return Type::tuple({});
    do items.push_back(next());
    while (take(","));
    need(")");
    return Type::tuple(std::move(items));
  }
  Type input() {
    std::size_t depth = 1;  // the name of a C++ type may have < and > of its own
    const std::size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      depth += text_[at_] == '<' ? 1 : 0;
      depth -= text_[at_] == '>' ? 1 : 0;
      if (depth == 0) break;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    need(">");
    const InputType* type = find_input_type(name);
    if (type == nullptr) throw UsageError(fmt::format("type: no block has an input of the C++ type {} so far", name));
    return Type::input(*type);
  }
  Shape shape() {
    need("[");
    Shape result;
    if (take("]")) return result;
    do {
      take("");  // spaces
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) refuse("a size");
      at_ = static_cast<std::size_t>(end - text_.data());
      if (result.rank() == kMaxRank) refuse("at most four sizes");
      result = result.inserted(result.rank(), size);
    } while (take(","));
    need("]");
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Type Type::tensor(const Shape& shape) {
  Type type;
  type.kind_ = Kind::kTensor;
  type.shape_ = shape;
  return type;
}

Type Type::tuple(std::vector<Type> items) {
  Type type;
  type.kind_ = Kind::kTuple;
  type.items_ = std::move(items);
  return type;
}

Type Type::sequence(const Type& element) {
  Type type = tuple({element});
  type.kind_ = Kind::kSequence;
  return type;
}

Type Type::infinite(const Type& element) {
  Type type = tuple({element});
  type.kind_ = Kind::kInfinite;
  return type;
}

Type Type::input(const InputType& input) {
  Type type;
  type.kind_ = Kind::kInput;
  type.input_ = &input;
  return type;
}

Type Type::parse(std::string_view text) { return Reader(text).whole(); }

std::vector<Type> Type::terminals() const {
  if (kind_ == Kind::kTensor || kind_ == Kind::kInput) return {*this};
  std::vector<Type> result;
  for (const Type& item : items_)
    for (Type& terminal : item.terminals()) result.push_back(std::move(terminal));
  return result;
}

Type Type::canonical() const {
  Type result = *this;
  for (Type& item : result.items_) item = item.canonical();
  const Type value = input<Value>();
  const bool holds_values_only = !result.items_.empty() && std::all_of(result.items_.begin(), result.items_.end(),
                                                                       [&](const Type& item) { return item == value; });
  return holds_values_only && kind_ != Kind::kInfinite ? value : result;
}

std::string Type::to_text() const {
  const auto joined = [&] {
    std::string text;
    for (const Type& item : items_) text += (text.empty() ? "" : ", ") + item.to_text();
    return text;
  };
  switch (kind_) {
    case Kind::kTensor: return "float" + shape_.to_string();
    case Kind::kTuple: return "(" + joined() + ")";
    case Kind::kSequence: return "seq<" + joined() + ">";
    case Kind::kInfinite: return "inf<" + joined() + ">";
    case Kind::kInput: return "input<" + input_->name + ">";
    case Kind::kVoid: break;
  }
  return "void";
}

std::size_t Type::hash() const { return std::hash<std::string>()(to_text()); }

bool Type::operator==(const Type& other) const {
  return kind_ == other.kind_ && shape_ == other.shape_ && input_ == other.input_ && items_ == other.items_;
}

std::strong_ordering Type::operator<=>(const Type& other) const { return to_text() <=> other.to_text(); }

}  // namespace espalier::blocks
