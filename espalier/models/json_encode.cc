/// JsonSchema::encode(): a record as a flat instance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "espalier/base/error.h"
#include "espalier/models/json_schema.h"

namespace espalier::models {
namespace {

constexpr float kMostDeviations = 10;  // numbers further from the mean are taken as that far

float scaled_number(double x, double mean, double deviation) {
  const double scaled = (x - mean) / deviation;
  if (std::isnan(scaled)) return 0;
  return static_cast<float>(
      std::clamp(scaled, -static_cast<double>(kMostDeviations), static_cast<double>(kMostDeviations)));
}

}  // namespace

/// Walks over a record without recursion: a map or list is visited, then its children, and then it is finished.
class JsonSchema::Flattening {
 public:
  explicit Flattening(const JsonSchema& schema) : schema_(schema) {}

  JsonInstance flatten(const Value& record) {
    stack_.push_back({&record, schema_.root_, 0, false});
    while (!stack_.empty()) {
      const Visit visit = stack_.back();
      stack_.pop_back();
      if (visit.finish)
        finish(visit);
      else if (visit.value->is_map() && type_of(visit).has_maps)
        open_map(visit);
      else if (visit.value->is_list() && !visit.value->empty() && type_of(visit).item >= 0)
        open_list(visit);
      else
        put(visit, leaf(visit));
    }
    return std::move(instance_);
  }

 private:
  using Kind = JsonInstance::Kind;

  struct Visit {
    const Value* value;
    std::int32_t type;
    std::size_t slot;  // of its node in slots_
    bool finish;
  };

  const JsonType& type_of(const Visit& visit) const { return schema_.types_[static_cast<std::size_t>(visit.type)]; }

  void open_map(const Visit& visit) {
    stack_.push_back({visit.value, visit.type, visit.slot, true});
    const std::size_t first = slots_.size();
    const JsonType& type = type_of(visit);
    slots_.resize(first + type.fields.size(), -1);
    const auto& fields = schema_.index_[static_cast<std::size_t>(visit.type)].fields;
    for (const Value::Entry& entry : visit.value->entries())
      if (const auto found = fields.find(entry.key); found != fields.end()) {
        const auto field = static_cast<std::size_t>(found->second);
        stack_.push_back({&entry.value, type.fields[field].type, first + field, false});
      }
  }

  void open_list(const Visit& visit) {
    stack_.push_back({visit.value, visit.type, visit.slot, true});
    const std::size_t first = slots_.size();
    slots_.resize(first + visit.value->size(), -1);
    for (std::size_t i = 0; i < visit.value->size(); ++i)
      stack_.push_back({&(*visit.value)[i], type_of(visit).item, first + i, false});
  }

  /// The nodes of its children are in the last slots.
  void finish(const Visit& visit) {
    const JsonType& type = type_of(visit);
    const bool is_list = visit.value->is_list();
    const std::size_t count = is_list ? visit.value->size() : type.fields.size();
    JsonInstance::Node node{.type = visit.type, .kind = is_list ? Kind::kList : Kind::kMap};
    node.begin = static_cast<std::int32_t>(instance_.children.size());
    instance_.children.insert(instance_.children.end(), slots_.end() - static_cast<std::ptrdiff_t>(count),
                              slots_.end());
    node.end = static_cast<std::int32_t>(instance_.children.size());
    slots_.resize(slots_.size() - count);
    const Value* label = type.has_label && !is_list ? visit.value->find(schema_.label_keys_.back()) : nullptr;
    if (label != nullptr) node.target = schema_.target_of(*label);
    node.has_target = label != nullptr && !std::isnan(node.target);
    put(visit, node);
  }

  /// null if the type has never seen values of this kind.
  JsonInstance::Node leaf(const Visit& visit) {
    const JsonType& type = type_of(visit);
    const Value& value = *visit.value;
    JsonInstance::Node node{.type = visit.type};
    if (value.is_bool()) {
      node.kind = value.as_bool() ? Kind::kTrue : Kind::kFalse;
    } else if ((value.is_integer() || value.is_float()) && type.has_numbers) {
      const double x = value.as_float();
      const double logarithm = std::copysign(std::log1p(std::abs(x)), x);
      node.kind = Kind::kNumber;
      node.begin = static_cast<std::int32_t>(instance_.numbers.size());
      instance_.numbers.push_back(scaled_number(x, type.scale.mean, type.scale.deviation));
      instance_.numbers.push_back(scaled_number(logarithm, type.scale.log_mean, type.scale.log_deviation));
      node.end = node.begin + 2;
    } else if (value.is_string() && type.has_strings) {
      node.kind = type.is_text ? Kind::kText : Kind::kCategory;
      node.begin = static_cast<std::int32_t>(instance_.words.size());
      add_words(visit, type.is_text);
      node.end = static_cast<std::int32_t>(instance_.words.size());
      if (node.begin == node.end) node.kind = Kind::kEmpty;
    } else if (value.is_list()) {
      node.kind = Kind::kEmpty;
    }
    return node;
  }

  void add_words(const Visit& visit, bool is_text) {
    const auto& words = schema_.index_[static_cast<std::size_t>(visit.type)].words;
    const auto add = [&](const std::string& word) {
      const auto found = words.find(word);
      instance_.words.push_back(found == words.end() ? 0 : found->second);
    };
    if (!is_text) return add(std::string(visit.value->as_string()));
    for (const std::string& word : words_of_text(visit.value->as_string())) add(word);
  }

  void put(const Visit& visit, const JsonInstance::Node& node) {
    slots_[visit.slot] = static_cast<std::int32_t>(instance_.nodes.size());
    instance_.nodes.push_back(node);
  }

  const JsonSchema& schema_;
  JsonInstance instance_;
  std::vector<std::int32_t> slots_{-1};  // the nodes of values that wait for their parents, the innermost last
  std::vector<Visit> stack_;
};

JsonInstance JsonSchema::encode(const Value& record, bool labelled, std::string_view place) const {
  if (labelled) {
    const Value* label = label_in(record);
    if (label == nullptr || label->is_null())
      throw DataError(fmt::format("{}: expected the label \"{}\", which is missing", place, label_path()));
    if (std::isnan(target_of(*label))) {
      const bool nested = label->is_list() || label->is_map();
      throw DataError(fmt::format("{}: expected the label \"{}\" to be {}, not {}", place, label_path(),
                                  classification_ ? "a class of the training data" : "a number that can be learnt",
                                  nested ? std::string(name_of(label->kind())) : label->to_text()));
    }
  }
  JsonInstance instance = Flattening(*this).flatten(record);
  JsonInstance::Node& root = instance.nodes.back();
  const Value* label = label_in(record);
  root.target = label == nullptr ? 0 : target_of(*label);
  root.has_target = label != nullptr && !std::isnan(root.target);
  return instance;
}

}  // namespace espalier::models
