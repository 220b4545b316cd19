/// Type: what flows along a wire between blocks, known when blocks are wired and not only when they run.
///
///   float[3]                 a tensor of 0 to 4 axes; float[] is one number
///   (float[3], seq<float[]>) a tuple
///   seq<float[3]>            any number of elements of one type
///   inf<float[3]>            the same element for ever: what broadcast() gives
///   input<Value>             data that is not on the graph yet: a Value, or any C++ type
///   void                     nothing
///
/// A tensor's elements are of the graph's element type, which the graph decides and not the model: a model of blocks
/// runs in float32 and in float64. Whole numbers (rows, labels, keys) are inputs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/shape.h"

namespace espalier::blocks {

struct InputType;
template <class T>
const InputType& input_type();

class ESPALIER_EXPORT Type {
 public:
  enum class Kind : std::uint8_t { kTensor, kTuple, kSequence, kInfinite, kInput, kVoid };

  /// void
  Type() = default;
  // Shorthands, so that a type can be written where one is wanted.
  // NOLINTBEGIN(google-explicit-constructor)
  /// A vector of this size.
  Type(std::int32_t size) : Type(tensor({size})) {}
  /// A tensor of this shape.
  Type(const Shape& shape) : Type(tensor(shape)) {}
  /// What parse() makes of it.
  Type(const char* text) : Type(parse(text)) {}
  // NOLINTEND(google-explicit-constructor)

  static Type tensor(const Shape& shape);
  static Type tuple(std::vector<Type> items);
  static Type sequence(const Type& element);
  static Type infinite(const Type& element);
  static Type input(const InputType& type);
  template <class T>
  static Type input() {
    return input(input_type<T>());
  }
  /// Reads the text form. Refuses (UsageError) what is not one, and an input<T> whose T no block has used yet.
  static Type parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  /// Of a tensor.
  const Shape& shape() const { return shape_; }
  /// Of an input.
  const InputType* input_of() const { return input_; }
  /// The items of a tuple; the one element type of a sequence.
  const std::vector<Type>& items() const { return items_; }
  const Type& element() const { return items_[0]; }

  /// The tensors and inputs in it, in order; void has none, a sequence those of its element.
  std::vector<Type> terminals() const;
  /// Containers of nothing but input<Value> are input<Value> themselves: a Value may be a list.
  Type canonical() const;

  /// The form above. Equal types have equal texts, and parse() reads it.
  std::string to_text() const;
  std::size_t hash() const;

  bool operator==(const Type& other) const;
  /// The order of the texts.
  std::strong_ordering operator<=>(const Type& other) const;

 private:
  Kind kind_ = Kind::kVoid;
  Shape shape_;
  const InputType* input_ = nullptr;
  std::vector<Type> items_;
};

}  // namespace espalier::blocks

template <>
struct std::hash<espalier::blocks::Type> {
  std::size_t operator()(const espalier::blocks::Type& type) const { return type.hash(); }
};
