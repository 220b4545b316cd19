/// A JsonSchema as a Value, and back.
#include <fmt/format.h>

#include <utility>

#include "espalier/base/error.h"
#include "espalier/models/json_schema.h"

namespace espalier::models {
namespace {

Value texts(const std::vector<std::string>& list) {
  std::vector<Value> items;
  items.reserve(list.size());
  for (const std::string& text : list) items.emplace_back(text);
  return Value::list(std::move(items));
}

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> result;
  for (const Value& item : list.items()) result.emplace_back(item.as_string());
  return result;
}

Value value_of(const JsonType& type) {
  std::vector<Value> fields;
  for (const JsonType::Field& field : type.fields) fields.push_back(Value::list({field.key, field.type}));
  return Value::map(
      {{"path", type.path},
       {"numbers", type.has_numbers},
       {"scale", Value::list({type.scale.mean, type.scale.deviation, type.scale.log_mean, type.scale.log_deviation})},
       {"strings", type.has_strings},
       {"text", type.is_text},
       {"words", texts(type.words)},
       {"lists", type.has_lists},
       {"item", type.item},
       {"bag", type.is_bag},
       {"maps", type.has_maps},
       {"fields", Value::list(std::move(fields))},
       {"label", type.has_label}});
}

/// A type by its number, which must be one of `count`.
std::int32_t checked_type(const Value& number, std::size_t count, std::int32_t least) {
  const std::int64_t type = number.as_integer();
  if (type < least || type >= static_cast<std::int64_t>(count))
    throw UsageError(fmt::format("type {} is outside 0 to {}", type, count - 1));
  return static_cast<std::int32_t>(type);
}

JsonType type_of(const Value& value, std::size_t count) {
  JsonType type;
  type.path = value.at("path").as_string();
  type.has_numbers = value.at("numbers").as_bool();
  const Value& scale = value.at("scale");
  type.scale = {.mean = scale[0].as_float(),
                .deviation = scale[1].as_float(),
                .log_mean = scale[2].as_float(),
                .log_deviation = scale[3].as_float()};
  type.has_strings = value.at("strings").as_bool();
  type.is_text = value.at("text").as_bool();
  type.words = texts_of(value.at("words"));
  type.has_lists = value.at("lists").as_bool();
  type.item = checked_type(value.at("item"), count, -1);
  type.is_bag = value.at("bag").as_bool();
  type.has_maps = value.at("maps").as_bool();
  for (const Value& field : value.at("fields").items())
    type.fields.push_back({std::string(field[0].as_string()), checked_type(field[1], count, 0)});
  type.has_label = value.at("label").as_bool();
  return type;
}

}  // namespace

Value JsonSchema::to_value() const {
  std::vector<Value> types;
  for (const JsonType& type : types_) types.push_back(value_of(type));
  return Value::map({{"label", texts(label_keys_)},
                     {"classification", classification_},
                     {"classes", texts(classes_)},
                     {"logarithmic", logarithmic_},
                     {"mean", label_mean_},
                     {"deviation", label_deviation_},
                     {"root", root_},
                     {"types", Value::list(std::move(types))}});
}

JsonSchema JsonSchema::from_value(const Value& value) {
  try {
    JsonSchema schema;
    schema.label_keys_ = texts_of(value.at("label"));
    if (schema.label_keys_.empty()) throw UsageError("the label has no name");
    schema.classification_ = value.at("classification").as_bool();
    schema.classes_ = texts_of(value.at("classes"));
    schema.logarithmic_ = value.at("logarithmic").as_bool();
    schema.label_mean_ = value.at("mean").as_float();
    schema.label_deviation_ = value.at("deviation").as_float();
    const Value& types = value.at("types");
    schema.root_ = checked_type(value.at("root"), types.size(), 0);
    for (const Value& type : types.items()) schema.types_.push_back(type_of(type, types.size()));
    schema.find_recursive();
    schema.index();
    return schema;
  } catch (const UsageError& error) {
    throw DataError(fmt::format("json: this is no schema: {}", error.what()));
  }
}

}  // namespace espalier::models
