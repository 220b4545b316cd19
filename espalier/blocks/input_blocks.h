/// Blocks that read inputs: numbers as tensors, parts of inputs, words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::nn {
class Embedding;
}

namespace espalier::blocks {

/// scalar() : reads a number as a tensor of rank 0.
/// Type: input -> float[]
/// Meaning: accepts whole numbers, other numbers, and bools (0 or 1).
/// Example: auto y = eval(scalar(), 3.5);
/// Errors: the data are not a number (DataError); the input is not data.
ESPALIER_EXPORT Block scalar(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// vector(size) : reads a list of numbers as a tensor of rank 1.
/// Type: input -> float[size]
/// Meaning: the list must have `size` numbers.
/// Example: auto y = eval(vector(3), std::vector<float>{1, 2, 3});
/// Errors: another number of elements, or elements that are not numbers (DataError).
ESPALIER_EXPORT Block vector(std::int32_t size, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// tensor(shape) : reads numbers as a tensor of any shape.
/// Type: input -> float[shape]
/// Meaning: accepts nested lists, one list of all numbers in row-major order, or a Tensor of that shape.
/// Example: auto y = eval(tensor({2, 2}), std::vector<std::vector<float>>{{1, 2}, {3, 4}});
/// Errors: another number of elements, or elements that are not numbers (DataError).
ESPALIER_EXPORT Block tensor(const Shape& shape, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// one_hot(start, stop) : turns a whole number into a vector with a single 1.
/// Type: input -> float[stop - start]
/// Meaning: the 1 is at position x - start.
/// Example: auto y = eval(one_hot(-1, 2), 0);
/// Errors: a number outside start .. stop - 1 (DataError); an empty range.
ESPALIER_EXPORT Block one_hot(std::int64_t start, std::int64_t stop, const char* file = __builtin_FILE(),
                              std::int32_t line = __builtin_LINE());

/// A whole number or a text that stands for something: an element of a list, a case of one_of.
class ESPALIER_EXPORT Key {
 public:
  // NOLINTBEGIN(google-explicit-constructor): written as it is
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Key(T number) : number_(static_cast<std::int64_t>(number)) {}
  Key(const char* text) : is_text_(true), text_(text) {}
  Key(std::string text) : is_text_(true), text_(std::move(text)) {}
  Key(std::string_view text) : is_text_(true), text_(text) {}
  // NOLINTEND(google-explicit-constructor)

  bool is_text() const { return is_text_; }
  std::int64_t number() const { return number_; }
  const std::string& text() const { return text_; }
  /// As it is written in C++.
  std::string to_text() const;
  bool operator==(const Key&) const = default;

 private:
  bool is_text_ = false;
  std::int64_t number_ = 0;
  std::string text_;
};

enum class Unknown : std::uint8_t { kRefused, kZeros };

/// one_hot(elements, unknown) : turns one of several values into a vector with a single 1.
/// Type: input -> float[number of elements]
/// Meaning: the elements are whole numbers or texts. Any other value is an error, or gives zeros with Unknown::kZeros.
/// Example: auto y = eval(one_hot({"red", "green"}, Unknown::kZeros), "blue");
/// Errors: an element is given twice; there are no elements; a value is not among them (DataError), unless unknown
/// values give zeros.
ESPALIER_EXPORT Block one_hot(const std::vector<Key>& elements, Unknown unknown = Unknown::kRefused,
                              const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// input_transform(f) : calls a function from data to data.
/// Type: input -> input
/// Meaning: f may take and return whatever a function() may, except tensors.
/// Example: auto upper = input_transform([](std::string_view s) { return std::string(s) + "!"; });
/// Errors: an exception of f is reported with the path of the block and the instance.
template <BlockFunction F>
Block input_transform(F f, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return function_block(make_function_spec<F>(std::move(f), "input_transform()"), {file, line});
}

/// get(key) : takes a field of data, an item of a tuple or an element of a sequence.
/// Type: input -> input;  (a, b, ...) -> the item;  seq<a> -> a
/// Meaning: a name takes that key of a Value or map, or the named field of a struct (Fields). A number takes an item of
/// a tuple, or an element of a list or sequence; negative numbers count from the end.
/// Example: auto left = get("left");
/// Errors: a type without such a part; data without it (DataError); an infinite sequence.
ESPALIER_EXPORT Block get(std::string name, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
ESPALIER_EXPORT Block get(std::int64_t place, const char* file = __builtin_FILE(),
                          std::int32_t line = __builtin_LINE());

/// A const char* is a name, an int a place.
inline Block get(const char* name, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return get(std::string(name), file, line);
}
inline Block get(int place, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return get(static_cast<std::int64_t>(place), file, line);
}

/// get(&T::member) : takes a member of a struct, or the result of a member function.
/// Type: input<T> -> input
/// Meaning: a pointer, optional or smart pointer stands for the object that it points to, and may be null (see
/// optional()). Nothing is copied, unless a function returns a value.
/// Example: auto left = get(&Tree::left);
/// Errors: the input has another C++ type; it is null (DataError).
template <class T, class Member>
Block get(Member T::*member, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  const auto read = [member](const T& object) -> decltype(auto) { return std::invoke(member, object); };
  FunctionSpec spec = make_function_spec(read, "get(member)");
  if constexpr (std::is_object_v<Member>) {
    spec.part = [](const void* reading, const void* whole) {
      return detail::address_of((*static_cast<decltype(&read)>(reading))(*static_cast<const T*>(whole)));
    };
    if constexpr (std::is_same_v<Member, detail::ReadAs<Member>>) spec.offset = detail::offset_of(member);
  }
  return function_block(std::move(spec), {file, line});
}

/// Words and their numbers.
class ESPALIER_EXPORT Vocabulary {
 public:
  /// Word i has number i. Refuses (UsageError) a word given twice.
  explicit Vocabulary(const std::vector<std::string>& words);
  /// The number of all words that are not in it; without one, such words are refused.
  Vocabulary& unknown(std::int32_t number);

  std::int32_t size() const { return static_cast<std::int32_t>(numbers_.size()); }
  /// -1 where there is no such word and no number for unknown ones.
  std::int32_t find(std::string_view word) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::int32_t unknown_ = -1;
};

/// lookup(vocabulary) : turns a word into its number.
/// Type: input -> input<int>
/// Meaning: reads a text and finds its number, for embedding().
/// Example: auto row = lookup(Vocabulary({"good", "bad"}).unknown(0));
/// Errors: data that are not a text; a word that is not in the vocabulary (DataError).
ESPALIER_EXPORT Block lookup(const Vocabulary& vocabulary, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// embedding(table) : turns the number of a word into its vector.
/// Type: input -> float[dim]
/// Meaning: takes that row of the table. Equal rows are looked up once per minibatch.
/// Example: auto word = get("word") >> lookup(vocabulary) >> embedding(words);
/// Errors: data that are not a whole number (DataError); a row outside the table.
ESPALIER_EXPORT Block embedding(const nn::Embedding& table, const char* file = __builtin_FILE(),
                                std::int32_t line = __builtin_LINE());

}  // namespace espalier::blocks
