/// InputType: how blocks read data of a C++ type where it lies, without converting it.
///
/// input_type<T>() makes the table of a type from what the type can do: ranges have elements, tuples and pairs have
/// fields, numbers and enumerations are keys and tensors, texts are keys, maps from strings find what belongs to a key.
/// Pointers, smart pointers, optionals and reference wrappers stand for what they point to; where they are empty, the
/// input is null (optional() asks for that). A struct of yours can name its fields, so that get("left") and records
/// work on it as on a Value:
///
///   template <>
///   struct espalier::blocks::Fields<Tree> {
///     static constexpr std::tuple kList{espalier::blocks::field("left", &Tree::left),
///                                       espalier::blocks::field("right", &Tree::right)};
///   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/slot.h"
#include "espalier/tensor/tensor.h"

namespace espalier {
class Value;
}

namespace espalier::blocks {

struct InputType;
template <class T>
const InputType& input_type();

/// One part of a struct or tuple.
struct InputField {
  std::string name;
  const InputType& (*type)();
  const void* (*get)(const void* object, Keep& keep);
};

/// Given the key or place of a part, and its address; parts are of the type of the whole.
using PartVisitor = std::function<void(std::string_view step, const void* part)>;

/// What is null is something that the type has not.
struct InputType {
  std::string name;
  // Ranges. `elements` writes as many addresses as size() says.
  const InputType& (*element)() = nullptr;
  std::int64_t (*size)(const void* object) = nullptr;
  void (*elements)(const void* object, Slot* to, Keep& keep) = nullptr;
  void (*floats)(const void* object, float* to) = nullptr;  // of ranges of numbers
  void (*doubles)(const void* object, double* to) = nullptr;
  // Structs and tuples.
  std::vector<InputField> fields = {};  // NOLINT(readability-redundant-member-init): may be left out
  // Maps from strings; `hint` is the place where the key was found last. Null: there is no such key.
  const InputType& (*entry)() = nullptr;
  const void* (*find)(const void* object, std::string_view key, std::size_t& hint, Keep& keep) = nullptr;
  // Numbers and texts; false: this object is none.
  bool (*number)(const void* object, double& to) = nullptr;
  bool (*integer)(const void* object, std::int64_t& to) = nullptr;
  bool (*text)(const void* object, std::string_view& to) = nullptr;
  bool is_int32 = false;  // and may be read as one: labels and places mostly are
  const Tensor* (*tensor)(const void* object) = nullptr;
  bool (*is_null)(const void* object) = nullptr;  // apart from a null address
  /// What two inputs have in common that are the same thing; the address, where there is no such function.
  const void* (*identity)(const void* object) = nullptr;
  /// The object in a few words, for messages.
  std::string (*describe)(const void* object) = nullptr;
  /// All parts of an object, by key or place, where only the object says which it has: to find a place in the data.
  void (*parts)(const void* object, Keep& keep, const PartVisitor& visit) = nullptr;
  /// A copy as a Value, for results.
  void (*to_value)(const void* object, Value& to) = nullptr;
};

/// Names the fields of a struct; see above.
template <class T>
struct Fields;
template <class Accessor>
struct NamedField {
  const char* name;
  Accessor accessor;
};
template <class Accessor>
constexpr NamedField<Accessor> field(const char* name, Accessor accessor) {
  return {name, accessor};
}

/// The one table of a type in the process: the first that was registered. If another type of the same name has one, the
/// name of this one becomes longer: different types have different names.
ESPALIER_EXPORT const InputType& register_input_type(std::type_index type, InputType (*make)());
/// By the name in its table; null if none is registered.
ESPALIER_EXPORT const InputType* find_input_type(std::string_view name);
ESPALIER_EXPORT InputType value_input_type();

/// Reads numbers in row-major order: a number for rank 0, lists in lists else, or one list of all. Refuses data of
/// another size, with a DataError.
ESPALIER_EXPORT void read_numbers(const InputType& type, const void* object, const Shape& shape, float* to, Keep& keep);
ESPALIER_EXPORT void read_numbers(const InputType& type, const void* object, const Shape& shape, double* to,
                                  Keep& keep);
/// Refuse, with a DataError, an object that is no such thing.
ESPALIER_EXPORT std::int64_t read_integer(const InputType& type, const void* object);
/// Refuses numbers outside lowest to highest, too.
ESPALIER_EXPORT std::int64_t read_integer(const InputType& type, const void* object, std::int64_t lowest,
                                          std::int64_t highest);
ESPALIER_EXPORT double read_number(const InputType& type, const void* object);
ESPALIER_EXPORT std::string_view read_text(const InputType& type, const void* object);
inline bool is_null(const InputType& type, const void* object) {
  return object == nullptr || (type.is_null != nullptr && type.is_null(object));
}
/// The object in a few words, for messages.
ESPALIER_EXPORT std::string describe(const InputType& type, const void* object);
/// Throws a DataError, to which the model that runs adds the block, its path, the instance and the place of the object
/// in its data; without an object, the place of what the block reads.
[[noreturn]] ESPALIER_EXPORT void refuse_data(const std::string& sentence, const void* object = nullptr);

namespace detail {

// --- what a type stands for ------------------------------------------------------------------------------------------

template <class T>
struct Pointed {
  static constexpr bool kPoints = false;
  using Type = T;
};
template <class T>
struct PointsTo {
  static constexpr bool kPoints = true;
  using Type = std::remove_cv_t<T>;
};
template <class T>
struct Pointed<T*> : PointsTo<T> {};
template <class T>
struct Pointed<std::optional<T>> : PointsTo<T> {};
template <class T, class Deleter>
struct Pointed<std::unique_ptr<T, Deleter>> : PointsTo<T> {};
template <class T>
struct Pointed<std::shared_ptr<T>> : PointsTo<T> {};
template <>
struct Pointed<const char*> {
  static constexpr bool kPoints = false;
  using Type = const char*;
};
template <class T>
inline constexpr bool kPoints = Pointed<std::remove_cvref_t<T>>::kPoints;

/// The type of the input that an object of type T is read as.
template <class T, bool points = kPoints<T>>
struct Read {
  using Type = std::remove_cvref_t<T>;
};
template <class T>
struct Read<T, true> {
  using Type = typename Read<typename Pointed<std::remove_cvref_t<T>>::Type>::Type;
};
template <class T>
struct Read<std::reference_wrapper<T>, false> {
  using Type = typename Read<T>::Type;
};
template <class T>
using ReadAs = typename Read<T>::Type;

template <class T>
const void* address_of(const T& object) {
  if constexpr (kPoints<T>)
    return object ? address_of(*object) : nullptr;
  else if constexpr (std::is_same_v<ReadAs<T>, T>)
    return &object;
  else
    return address_of(object.get());
}

/// The address of what an accessor returned; a value is kept.
template <class R>
const void* kept_address(R&& result, Keep& keep) {
  if constexpr (std::is_lvalue_reference_v<R> || std::is_pointer_v<std::remove_cvref_t<R>>)
    return address_of(result);
  else
    return address_of(*keep.keep(std::forward<R>(result)));
}

// --- tables ----------------------------------------------------------------------------------------------------------

template <class T>
std::string type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of(";]"));
  if constexpr (std::is_same_v<T, std::string>)
    name = "string";
  else if constexpr (std::is_same_v<T, std::string_view>)
    name = "string_view";
  else if (const auto colons = name.rfind("::");
           colons != std::string_view::npos && name.find('<') == std::string_view::npos)
    name.remove_prefix(colons + 2);
  return std::string(name);
}
/// A container by its own name and that of its elements, as in vector<int>.
ESPALIER_EXPORT std::string range_name(std::string_view range, std::string_view element);
template <class T>
concept Text = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept NumberLike = std::is_arithmetic_v<T> || std::is_enum_v<T>;
/// Anything to loop over. Not std::ranges: clang 14 cannot compile the views of the standard library of g++ 12.
template <class T>
concept Iterable = requires(T& all) {
  std::begin(all) != std::end(all);
  *std::begin(all);
};
template <class T>
concept Range = Iterable<const T> && !Text<T>;
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
}
&&!Range<T>;
template <class T>
concept KeyedByText = Range<T> && requires(const T& map, std::string key) {
  typename T::mapped_type;
  map.find(key)->second;
};
template <class T>
concept HasFields = requires {
  Fields<T>::kList;
};
template <class T>
using ElementOf = decltype(*std::begin(std::declval<const T&>()));

template <class T>
std::int64_t size_of(const T& range) {
  if constexpr (requires { std::size(range); }) {
    return static_cast<std::int64_t>(std::size(range));
  } else {
    std::int64_t count = 0;
    for (auto at = std::begin(range); at != std::end(range); ++at) ++count;
    return count;
  }
}

template <class T>
void add_range(InputType& type) {
  using Element = ElementOf<T>;
  type.name = range_name(type.name, type_name<ReadAs<Element>>());
  type.element = &input_type<ReadAs<Element>>;
  type.size = [](const void* object) { return size_of(*static_cast<const T*>(object)); };
  type.elements = [](const void* object, Slot* to, Keep& keep) {
    for (Element element : *static_cast<const T*>(object))
      (to++)->input = kept_address(std::forward<Element>(element), keep);
  };
  if constexpr (std::is_arithmetic_v<std::remove_cvref_t<Element>>) {
    type.floats = [](const void* object, float* to) {
      for (auto number : *static_cast<const T*>(object)) *to++ = static_cast<float>(number);
    };
    type.doubles = [](const void* object, double* to) {
      for (auto number : *static_cast<const T*>(object)) *to++ = static_cast<double>(number);
    };
  }
  if constexpr (KeyedByText<T>) {
    type.entry = &input_type<ReadAs<typename T::mapped_type>>;
    type.find = [](const void* object, std::string_view key, std::size_t&, Keep&) -> const void* {
      const T& map = *static_cast<const T*>(object);
      const auto found = map.find(typename T::key_type(key));
      return found == map.end() ? nullptr : address_of(found->second);
    };
  }
}

template <class T>
void add_number(InputType& type) {
  type.number = [](const void* object, double& to) {
    to = static_cast<double>(*static_cast<const T*>(object));
    return true;
  };
  if constexpr (!std::is_floating_point_v<T>)
    type.integer = [](const void* object, std::int64_t& to) {
      to = static_cast<std::int64_t>(*static_cast<const T*>(object));
      return true;
    };
  type.is_int32 = std::is_same_v<T, std::int32_t>;
}

template <class T, std::size_t i>
InputField tuple_field() {
  return {std::to_string(i), &input_type<ReadAs<std::tuple_element_t<i, T>>>, [](const void* object, Keep& keep) {
            return kept_address(std::get<i>(*static_cast<const T*>(object)), keep);
          }};
}

template <class T, std::size_t i>
InputField named_field() {
  constexpr auto kAccessor = std::get<i>(Fields<T>::kList).accessor;
  using Result = std::invoke_result_t<decltype(kAccessor), const T&>;
  return {std::get<i>(Fields<T>::kList).name, &input_type<ReadAs<Result>>, [](const void* object, Keep& keep) {
            return kept_address<Result>(
                std::invoke(std::get<i>(Fields<T>::kList).accessor, *static_cast<const T*>(object)), keep);
          }};
}

template <class T>
InputType make_input_type() {
  InputType type;
  type.name = type_name<T>();
  if constexpr (std::is_same_v<T, Tensor>) {
    type.tensor = [](const void* object) { return static_cast<const Tensor*>(object); };
  } else if constexpr (HasFields<T>) {
    [&]<std::size_t... i>(std::index_sequence<i...>) { type.fields = {named_field<T, i>()...}; }
    (std::make_index_sequence<std::tuple_size_v<decltype(Fields<T>::kList)>>());
  } else if constexpr (Text<T>) {
    type.text = [](const void* object, std::string_view& to) {
      to = *static_cast<const T*>(object);
      return true;
    };
  } else if constexpr (NumberLike<T>) {
    add_number<T>(type);
  } else if constexpr (Range<T>) {
    add_range<T>(type);
  } else if constexpr (TupleLike<T>) {
    [&]<std::size_t... i>(std::index_sequence<i...>) { type.fields = {tuple_field<T, i>()...}; }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  }
  return type;
}

template <class T>
InputType make_input_type_of() {
  if constexpr (std::is_same_v<T, Value>)
    return value_input_type();
  else
    return make_input_type<T>();
}

}  // namespace detail

/// The table of T, which is no pointer, optional or reference.
template <class T>
const InputType& input_type() {
  static_assert(std::is_same_v<T, detail::ReadAs<T>>);
  static const InputType& type = register_input_type(typeid(T), &detail::make_input_type_of<T>);
  return type;
}

}  // namespace espalier::blocks
