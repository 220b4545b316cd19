#include "espalier/blocks/input_type.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "espalier/blocks/refused_data.h"
#include "espalier/data/value.h"

namespace espalier::blocks {
namespace {

struct Registry {
  std::recursive_mutex mutex;  // making a table may ask for others
  std::unordered_map<std::type_index, std::unique_ptr<const InputType>> by_type;
  std::map<std::string, const InputType*, std::less<>> by_name;
};

/// Never destroyed: static objects of a user may hold blocks.
Registry& registry() {
  static auto* const kRegistry = new Registry;
  return *kRegistry;
}

/// One number of whatever type.
template <class T>
void read_one(const InputType& type, const void* object, T* to) {
  *to = static_cast<T>(read_number(type, object));
}

template <class T>
void read_all(const InputType& type, const void* object, const Shape& shape, std::int32_t axis, T* to, Keep& keep);

/// The numbers of a list, `each` for every element.
template <class T>
void read_list(const InputType& type, const void* object, const Shape& shape, std::int32_t axis, T* to, Keep& keep) {
  if (is_null(type, object) || type.size == nullptr)
    refuse_data(fmt::format("expected a list of numbers, but got {}", describe(type, object)), object);
  const std::int64_t size = type.size(object);
  std::int64_t rest = 1;  // numbers an element
  for (std::int32_t i = axis + 1; i < shape.rank(); ++i) rest *= shape[i];
  const InputType& element = type.element();
  const bool all_in_one = axis == 0 && rest != 1 && size == shape.elements();
  if (size != shape[axis] && !all_in_one)
    refuse_data(
        fmt::format("expected {} {}, but got {}", shape[axis], axis + 1 == shape.rank() ? "numbers" : "lists", size),
        object);
  if constexpr (std::is_same_v<T, float>) {
    if (type.floats != nullptr && (rest == 1 || all_in_one)) return type.floats(object, to);
  } else {
    if (type.doubles != nullptr && (rest == 1 || all_in_one)) return type.doubles(object, to);
  }
  Slot* slots = keep.slots(size);
  type.elements(object, slots, keep);
  for (std::int64_t i = 0; i < size; ++i) {
    if (all_in_one)
      read_one(element, slots[i].input, to + i);
    else
      read_all(element, slots[i].input, shape, axis + 1, to + i * rest, keep);
  }
}

template <class T>
void read_all(const InputType& type, const void* object, const Shape& shape, std::int32_t axis, T* to, Keep& keep) {
  if (axis == shape.rank())
    read_one(type, object, to);
  else
    read_list(type, object, shape, axis, to, keep);
}

template <class T>
void read(const InputType& type, const void* object, const Shape& shape, T* to, Keep& keep) {
  if (type.tensor == nullptr || object == nullptr) return read_all(type, object, shape, 0, to, keep);
  const Tensor& tensor = *type.tensor(object);
  if (tensor.shape() != shape)
    refuse_data(fmt::format("expected a tensor of shape {}, but got one of shape {}", shape.to_string(),
                            tensor.shape().to_string()));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) to[i] = static_cast<T>(tensor.at(i));
}

/// With namespaces and all arguments.
std::string full_name(std::type_index type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    &std::free);
  return name == nullptr ? type.name() : name.get();
}

}  // namespace

std::string detail::range_name(std::string_view range, std::string_view element) {
  const std::size_t arguments = range.find('<');
  if (arguments == std::string_view::npos) return std::string(range);
  range = range.substr(0, arguments);
  if (const std::size_t colons = range.rfind("::"); colons != std::string_view::npos) range.remove_prefix(colons + 2);
  return fmt::format("{}<{}>", range, element);
}

const InputType& register_input_type(std::type_index type, InputType (*make)()) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto known = all.by_type.find(type); known != all.by_type.end()) return *known->second;
  auto made = std::make_unique<InputType>(make());
  if (all.by_name.contains(made->name)) made->name = full_name(type);
  const std::string name = made->name;
  for (int i = 2; all.by_name.contains(made->name); ++i) made->name = fmt::format("{} #{}", name, i);
  const InputType& result = *made;
  all.by_name.emplace(result.name, &result);
  all.by_type.emplace(type, std::move(made));
  return result;
}

const InputType* find_input_type(std::string_view name) {
  static_cast<void>(input_type<Value>());  // the default is always known
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto known = all.by_name.find(name);
  return known == all.by_name.end() ? nullptr : known->second;
}

void read_numbers(const InputType& type, const void* object, const Shape& shape, float* to, Keep& keep) {
  read(type, object, shape, to, keep);
}

void read_numbers(const InputType& type, const void* object, const Shape& shape, double* to, Keep& keep) {
  read(type, object, shape, to, keep);
}

std::int64_t read_integer(const InputType& type, const void* object) {
  std::int64_t integer = 0;
  if (is_null(type, object) || type.integer == nullptr || !type.integer(object, integer))
    refuse_data(fmt::format("expected a whole number, but got {}", describe(type, object)), object);
  return integer;
}

std::int64_t read_integer(const InputType& type, const void* object, std::int64_t lowest, std::int64_t highest) {
  const std::int64_t number = read_integer(type, object);
  if (number < lowest || number > highest)
    refuse_data(fmt::format("expected a whole number from {} to {}, but got {}", lowest, highest, number), object);
  return number;
}

double read_number(const InputType& type, const void* object) {
  double number = 0;
  if (is_null(type, object) || type.number == nullptr || !type.number(object, number))
    refuse_data(fmt::format("expected a number, but got {}", describe(type, object)), object);
  return number;
}

std::string_view read_text(const InputType& type, const void* object) {
  std::string_view text;
  if (is_null(type, object) || type.text == nullptr || !type.text(object, text))
    refuse_data(fmt::format("expected a string, but got {}", describe(type, object)), object);
  return text;
}

std::string describe(const InputType& type, const void* object) {
  if (object == nullptr) return "null";
  if (type.describe != nullptr) return type.describe(object);
  if (std::string_view text; type.text != nullptr && type.text(object, text)) return fmt::format("\"{}\"", text);
  if (std::int64_t integer = 0; type.integer != nullptr && type.integer(object, integer))
    return fmt::format("{}", integer);
  if (double number = 0; type.number != nullptr && type.number(object, number)) return fmt::format("{}", number);
  if (type.size != nullptr) return fmt::format("a list of {}", type.size(object));
  return "a " + type.name;
}

void refuse_data(const std::string& sentence, const void* object) { throw RefusedData(sentence, object); }

}  // namespace espalier::blocks
