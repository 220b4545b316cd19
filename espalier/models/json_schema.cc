#include "espalier/models/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/models/json_inference.h"

namespace espalier::models {
namespace {

bool continues_word(unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80 || c == '_'; }

}  // namespace

std::vector<std::string> words_of_text(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char byte : text) {
    const auto c = static_cast<unsigned char>(byte);
    if (continues_word(c)) {
      if (!in_word) words.emplace_back();
      words.back() += c < 0x80 ? static_cast<char>(std::tolower(c)) : byte;
      in_word = true;
    } else {
      if (std::isspace(c) == 0) words.emplace_back(1, byte);
      in_word = false;
    }
  }
  return words;
}

JsonSchema::JsonSchema(std::span<const Value> records, const JsonSchemaOptions& options,
                       const std::function<std::string(std::size_t)>& place) {
  *this = JsonInference(records, options, place).infer();
}

std::string JsonSchema::label_path() const { return fmt::format("{}", fmt::join(label_keys_, ".")); }

void JsonSchema::index() {
  index_.assign(types_.size(), {});
  for (std::size_t t = 0; t < types_.size(); ++t) {
    for (std::size_t w = 0; w < types_[t].words.size(); ++w)
      index_[t].words.emplace(types_[t].words[w], static_cast<std::int32_t>(w) + 1);
    for (std::size_t f = 0; f < types_[t].fields.size(); ++f)
      index_[t].fields.emplace(types_[t].fields[f].key, static_cast<std::int32_t>(f));
  }
  class_index_.clear();
  for (std::size_t c = 0; c < classes_.size(); ++c) class_index_.emplace(classes_[c], static_cast<std::int32_t>(c));
}

/// A type is recursive if it reaches itself: found from each type by a walk over those below it.
void JsonSchema::find_recursive() {
  for (std::size_t start = 0; start < types_.size(); ++start) {
    std::vector<bool> reached(types_.size(), false);
    std::vector<std::size_t> waiting{start};
    const auto reach = [&](std::int32_t type) {
      if (type < 0 || reached[static_cast<std::size_t>(type)]) return;
      reached[static_cast<std::size_t>(type)] = true;
      waiting.push_back(static_cast<std::size_t>(type));
    };
    while (!waiting.empty() && !reached[start]) {
      const JsonType& type = types_[waiting.back()];
      waiting.pop_back();
      reach(type.item);
      for (const JsonType::Field& field : type.fields) reach(field.type);
    }
    types_[start].recursive = reached[start];
  }
}

const Value* JsonSchema::label_in(const Value& record) const {
  const Value* at = &record;
  for (const std::string& key : label_keys_) {
    if (!at->is_map()) return nullptr;
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

/// NaN for a label that is no class and no number.
float JsonSchema::target_of(const Value& label) const {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (classification_) {
    if (label.is_list() || label.is_map() || label.is_null()) return kNone;
    const auto found = class_index_.find(label.is_string() ? std::string(label.as_string()) : label.to_text());
    return found == class_index_.end() ? kNone : static_cast<float>(found->second);
  }
  if (!label.is_integer() && !label.is_float()) return kNone;
  const double x = logarithmic_ ? std::log(label.as_float()) : label.as_float();
  const double scaled = (x - label_mean_) / label_deviation_;
  return std::isfinite(scaled) ? static_cast<float>(scaled) : kNone;
}

double JsonSchema::label_of(const Value& record) const {
  const Value* label = label_in(record);
  if (label == nullptr) return std::numeric_limits<double>::quiet_NaN();
  if (classification_) return target_of(*label);
  return label->is_integer() || label->is_float() ? label->as_float() : std::numeric_limits<double>::quiet_NaN();
}

double JsonSchema::number_of(double output) const {
  const double x = output * label_deviation_ + label_mean_;
  return logarithmic_ ? std::exp(x) : x;
}

std::string JsonSchema::describe() const {
  std::string text =
      fmt::format("label: {}, {}\n", label_path(),
                  classification_ ? fmt::format("one of {} classes", classes_.size())
                                  : fmt::format("a number{}", logarithmic_ ? ", learnt as its logarithm" : ""));
  for (const JsonType& type : types_) {
    std::vector<std::string> kinds;
    if (type.has_numbers) kinds.push_back(fmt::format("number (mean {:.4g})", type.scale.mean));
    if (type.has_strings)
      kinds.push_back(fmt::format("{} of {} {}", type.is_text ? "text" : "category", type.words.size(),
                                  type.is_text ? "words" : "values"));
    if (type.has_lists) kinds.push_back(type.is_bag ? "bag" : "sequence");
    if (type.has_maps) kinds.push_back(fmt::format("object of {} fields", type.fields.size()));
    if (kinds.empty() || (type.path == label_path() && !type.has_maps)) continue;
    text += fmt::format("{}: {}{}\n", type.path.empty() ? "record" : type.path, fmt::join(kinds, " or "),
                        type.recursive ? ", recursive" : "");
  }
  return text;
}

}  // namespace espalier::models
