/// How blocks read a Value: what it is, only the data say.
#include <fmt/format.h>

#include <span>
#include <string>

#include "espalier/blocks/input_type.h"
#include "espalier/data/short_text.h"

namespace espalier::blocks {
namespace {

const Value& value_at(const void* object) { return *static_cast<const Value*>(object); }

std::string shortened(const Value& value) {
  constexpr std::size_t kMost = 60;
  return short_text(value, kMost);
}

[[noreturn]] void refuse_kind(const char* expected, const Value& value) {
  refuse_data(fmt::format("expected {}, but got {}", expected, shortened(value)), &value);
}

std::int64_t size_of_list(const void* object) {
  const Value& value = value_at(object);
  if (!value.is_list()) refuse_kind("a list", value);
  return static_cast<std::int64_t>(value.size());
}

/// Maps of one kind have their keys at the same places: the place where the key was last is tried first.
const void* find_entry(const void* object, std::string_view key, std::size_t& hint, Keep&) {
  const Value& value = value_at(object);
  if (!value.is_map()) refuse_kind("a map", value);
  const std::span<const Value::Entry> entries = value.entries();
  if (hint < entries.size() && entries[hint].key == key) return &entries[hint].value;
  const Value* found = value.find(key);
  if (found == nullptr) return nullptr;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (&entries[i].value == found) hint = i;
  return found;
}

void visit_parts(const void* object, Keep&, const PartVisitor& visit) {
  const Value& value = value_at(object);
  if (value.is_map()) {
    for (const Value::Entry& entry : value.entries()) visit(entry.key, &entry.value);
  } else if (value.is_list()) {
    const std::span<const Value> items = value.items();
    for (std::size_t i = 0; i < items.size(); ++i) visit(std::to_string(i), &items[i]);
  }
}

}  // namespace

InputType value_input_type() {
  InputType type;
  type.name = "Value";
  type.element = &input_type<Value>;
  type.size = &size_of_list;
  type.elements = [](const void* object, Slot* to, Keep&) {
    for (const Value& item : value_at(object).items()) (to++)->input = &item;
  };
  type.entry = &input_type<Value>;
  type.find = &find_entry;
  type.number = [](const void* object, double& to) {
    const Value& value = value_at(object);
    if (value.is_bool()) to = value.as_bool() ? 1 : 0;
    if (value.is_integer() || value.is_float()) to = value.as_float();
    return value.is_bool() || value.is_integer() || value.is_float();
  };
  type.integer = [](const void* object, std::int64_t& to) {
    const Value& value = value_at(object);
    if (value.is_bool()) to = value.as_bool() ? 1 : 0;
    if (value.is_integer()) to = value.as_integer();
    return value.is_bool() || value.is_integer();
  };
  type.text = [](const void* object, std::string_view& to) {
    const Value& value = value_at(object);
    if (value.is_string()) to = value.as_string();
    return value.is_string();
  };
  type.is_null = [](const void* object) { return value_at(object).is_null(); };
  type.identity = [](const void* object) {
    const void* payload = value_at(object).identity();
    return payload != nullptr ? payload : object;
  };
  type.parts = &visit_parts;
  type.describe = [](const void* object) { return shortened(value_at(object)); };
  type.to_value = [](const void* object, Value& to) { to = value_at(object); };
  return type;
}

}  // namespace espalier::blocks
