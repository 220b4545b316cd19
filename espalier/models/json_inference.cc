#include "espalier/models/json_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>

#include "espalier/base/error.h"

namespace espalier::models {
namespace {

constexpr std::size_t kFewCategories = 20;
constexpr std::size_t kMostWords = 50'000;

double signed_log(double x) { return std::copysign(std::log1p(std::abs(x)), x); }

bool is_number(const Value& value) { return value.is_integer() || value.is_float(); }

/// The mean and the deviation (1 for numbers that are all the same) from a count and sums.
std::pair<double, double> mean_and_deviation(std::int64_t count, double sum, double squares) {
  if (count == 0) return {0, 1};
  const double mean = sum / static_cast<double>(count);
  const double variance = squares / static_cast<double>(count) - mean * mean;
  const bool varies = variance > 1e-12 * (1 + mean * mean) && std::isfinite(variance);
  return {std::isfinite(mean) ? mean : 0, varies ? std::sqrt(variance) : 1};
}

/// A way through the keys of a record, by parts between points; a key that has points itself is one part if it exists.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t point = path.find('.');
    parts.emplace_back(path.substr(0, point));
    if (point == std::string_view::npos) return parts;
    path.remove_prefix(point + 1);
  }
}

const Value* follow(const Value& record, std::span<const std::string> keys) {
  const Value* at = &record;
  for (const std::string& key : keys) {
    if (!at->is_map()) return nullptr;
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

/// The ways to a key through maps alone, none of them longer than the shortest found, in one record.
std::set<std::vector<std::string>> ways_to(const Value& record, std::string_view key) {
  std::set<std::vector<std::string>> ways;
  std::deque<std::pair<const Value*, std::vector<std::string>>> waiting{{&record, {}}};
  while (!waiting.empty()) {
    const auto [value, way] = std::move(waiting.front());
    waiting.pop_front();
    if (!ways.empty() && way.size() >= ways.begin()->size()) break;
    for (const Value::Entry& entry : value->entries()) {
      std::vector<std::string> next = way;
      next.push_back(entry.key);
      if (entry.key == key)
        ways.insert(std::move(next));
      else if (entry.value.is_map() && next.size() < 32)
        waiting.emplace_back(&entry.value, std::move(next));
    }
  }
  return ways;
}

}  // namespace

JsonSchema JsonInference::infer() {
  if (records_.empty()) throw DataError("json: there are no records to learn from");
  for (std::size_t i = 0; i < records_.size(); ++i)
    if (!records_[i].is_map())
      throw DataError(fmt::format("{}: expected an object with the label \"{}\", not {}", place_(i), options_.label,
                                  name_of(records_[i].kind())));
  find_label();
  for (const std::string& key : label_keys_)
    if (ignored(key))
      throw UsageError(fmt::format("json: \"{}\" is to be ignored, and it is a part of the label \"{}\"", key,
                                   fmt::join(label_keys_, ".")));
  find_recursive_keys();
  do see_all();
  while (merge_alike());

  JsonSchema schema;
  schema.label_keys_ = label_keys_;
  for (const Seen& seen : seen_) schema.types_.push_back(finished(seen));
  // The type of the map that holds the label.
  std::int32_t holder = 0;
  for (std::size_t k = 0; k + 1 < label_keys_.size(); ++k)
    holder = seen_[static_cast<std::size_t>(holder)].fields.at(label_keys_[k]).first;
  JsonType& of_label = schema.types_[static_cast<std::size_t>(holder)];
  std::erase_if(of_label.fields, [&](const JsonType::Field& field) { return field.key == label_keys_.back(); });
  finish_label(schema);
  schema.find_recursive();
  of_label.has_label = of_label.recursive;
  schema.index();
  return schema;
}

void JsonInference::find_label() {
  if (options_.label.empty()) throw UsageError("json: the name of the label field is missing");
  for (const std::vector<std::string>& way : {std::vector{options_.label}, split_path(options_.label)})
    for (const Value& record : records_)
      if (follow(record, way) != nullptr) {
        label_keys_ = way;
        return;
      }
  std::set<std::vector<std::string>> ways;
  for (const Value& record : records_) ways.merge(ways_to(record, options_.label));
  if (ways.size() == 1) {
    label_keys_ = *ways.begin();
    return;
  }
  if (ways.empty())
    throw DataError(fmt::format("{}: expected the label \"{}\", which no record has", place_(0), options_.label));
  std::vector<std::string> paths;
  paths.reserve(ways.size());
  for (const std::vector<std::string>& way : ways) paths.push_back(fmt::format("\"{}\"", fmt::join(way, ".")));
  throw DataError(fmt::format("{}: expected one place with the label \"{}\", and there are {}", place_(0),
                              options_.label, fmt::join(paths, ", ")));
}

/// Keys that occur within their own value, in any record.
void JsonInference::find_recursive_keys() {
  struct Step {
    const Value* value;
    const std::string* key;  // that led there; null for items
    bool leave;
  };
  std::unordered_map<std::string_view, std::int32_t> open;
  for (const Value& record : records_) {
    std::vector<Step> stack{{&record, nullptr, false}};
    while (!stack.empty()) {
      const Step step = stack.back();
      stack.pop_back();
      if (step.leave) {
        --open[*step.key];
        continue;
      }
      if (!step.value->is_map() && !step.value->is_list()) continue;
      if (step.key != nullptr) {
        if (open[*step.key]++ > 0) recursive_keys_.insert(*step.key);
        stack.push_back({nullptr, step.key, true});
      }
      if (step.value->is_list()) {
        for (const Value& item : step.value->items()) stack.push_back({&item, nullptr, false});
      } else {
        for (const Value::Entry& entry : step.value->entries())
          if (!ignored(entry.key)) stack.push_back({&entry.value, &entry.key, false});
      }
    }
  }
}

bool JsonInference::ignored(std::string_view key) const {
  for (const std::string& pattern : options_.ignore)
    if (pattern.ends_with('*') ? key.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                               : key == pattern)
      return true;
  return false;
}

std::int32_t JsonInference::canonical(std::int32_t type) const {
  const auto found = same_as_.find(seen_[static_cast<std::size_t>(type)].path);
  if (found == same_as_.end()) return type;
  const auto other = by_path_.find(found->second);
  return other == by_path_.end() ? type : other->second;
}

std::int32_t JsonInference::new_type(std::string path, bool is_item) {
  const auto number = static_cast<std::int32_t>(seen_.size());
  seen_.emplace_back();
  seen_.back().path = std::move(path);
  seen_.back().is_item = is_item;
  by_path_.emplace(seen_.back().path, number);
  return canonical(number);
}

std::int32_t JsonInference::field_type(std::int32_t of, const std::string& key) {
  const auto at = static_cast<std::size_t>(of);
  if (const auto found = seen_[at].fields.find(key); found != seen_[at].fields.end()) {
    ++found->second.second;
    return found->second.first;
  }
  std::int32_t type = -1;
  if (recursive_keys_.contains(key)) {
    if (const auto found = of_recursive_key_.find(key); found != of_recursive_key_.end()) type = found->second;
  }
  if (type < 0) {
    const std::string& above = seen_[at].path;
    type = new_type(above.empty() ? key : above + "." + key, false);
    if (recursive_keys_.contains(key)) of_recursive_key_.emplace(key, type);
  }
  seen_[at].fields.emplace(key, std::pair(type, 1));
  return type;
}

std::int32_t JsonInference::item_type(std::int32_t of) {
  const auto at = static_cast<std::size_t>(of);
  if (seen_[at].item >= 0) return seen_[at].item;
  // Lists within lists are one type, however deep.
  const std::int32_t type = seen_[at].is_item ? of : new_type(seen_[at].path + "[]", true);
  seen_[at].item = type;
  return type;
}

void JsonInference::see(const Value& value, std::int32_t type) {
  Seen& seen = seen_[static_cast<std::size_t>(type)];
  if (is_number(value)) {
    const double x = value.as_float();
    ++seen.numbers;
    seen.sum += x;
    seen.squares += x * x;
    seen.log_sum += signed_log(x);
    seen.log_squares += signed_log(x) * signed_log(x);
  } else if (value.is_string()) {
    ++seen.strings;
    ++seen.texts[std::string(value.as_string())];
  }
}

void JsonInference::see_all() {
  seen_.clear();
  by_path_.clear();
  of_recursive_key_.clear();
  const std::int32_t root = new_type("", false);
  std::vector<std::pair<const Value*, std::int32_t>> stack;
  for (const Value& record : records_) {
    stack.emplace_back(&record, root);
    while (!stack.empty()) {
      const auto [value, type] = stack.back();
      stack.pop_back();
      see(*value, type);
      const auto at = static_cast<std::size_t>(type);
      if (value->is_list()) {
        ++seen_[at].lists;
        seen_[at].items += static_cast<std::int64_t>(value->size());
        for (const Value& item : value->items()) stack.emplace_back(&item, item_type(type));
      } else if (value->is_map()) {
        ++seen_[at].maps;
        for (const Value::Entry& entry : value->entries())
          if (!ignored(entry.key)) stack.emplace_back(&entry.value, field_type(type, entry.key));
      }
    }
  }
}

/// Whether most keys of the one with fewer are those of the other.
bool JsonInference::alike(const Seen& a, const Seen& b) const {
  const Seen& fewer = a.fields.size() <= b.fields.size() ? a : b;
  const Seen& more = &fewer == &a ? b : a;
  std::size_t common = 0;
  for (const auto& [key, field] : fewer.fields) common += more.fields.contains(key) ? 1 : 0;
  return common >= 2 && 4 * common >= 3 * fewer.fields.size();
}

/// Merges maps that refer to recursive maps with mostly the same keys into these. False if there are none.
bool JsonInference::merge_alike() {
  bool merged = false;
  for (std::size_t t = 0; t < seen_.size(); ++t) {
    for (const auto& [key, field] : seen_[t].fields) {
      if (!recursive_keys_.contains(key)) continue;
      std::int32_t other = field.first;
      if (seen_[static_cast<std::size_t>(other)].maps == 0) other = seen_[static_cast<std::size_t>(other)].item;
      if (other < 0 || other == static_cast<std::int32_t>(t)) continue;
      const Seen& recursive = seen_[static_cast<std::size_t>(other)];
      if (!alike(seen_[t], recursive)) continue;
      // The root stays: everything begins there.
      const bool first = t == 0 || static_cast<std::int32_t>(t) < other;
      const std::string& from = first ? recursive.path : seen_[t].path;
      const std::string& to = first ? seen_[t].path : recursive.path;
      if (from.empty() || same_as_.contains(from)) continue;
      same_as_.emplace(from, to);
      merged = true;
    }
  }
  return merged;
}

JsonType JsonInference::finished(const Seen& seen) const {
  JsonType type;
  type.path = seen.path;
  type.has_numbers = seen.numbers > 0;
  std::tie(type.scale.mean, type.scale.deviation) = mean_and_deviation(seen.numbers, seen.sum, seen.squares);
  std::tie(type.scale.log_mean, type.scale.log_deviation) =
      mean_and_deviation(seen.numbers, seen.log_sum, seen.log_squares);
  type.has_strings = seen.strings > 0;
  if (type.has_strings) finish_strings(seen, type);
  type.has_lists = seen.lists > 0;
  type.item = seen.item;
  type.is_bag = options_.lists == "bags" || (options_.lists == "auto" && seen.items > 50 * seen.lists);
  type.has_maps = seen.maps > 0;
  std::vector<std::pair<std::int64_t, std::string>> by_count;
  for (const auto& [key, field] : seen.fields) by_count.emplace_back(-field.second, key);
  std::sort(by_count.begin(), by_count.end());
  if (std::ssize(by_count) > options_.most_fields) by_count.resize(static_cast<std::size_t>(options_.most_fields));
  for (const auto& [count, key] : by_count) type.fields.push_back({key, seen.fields.at(key).first});
  std::sort(type.fields.begin(), type.fields.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return type;
}

/// Categories, if most values occur several times or there are few; else words.
void JsonInference::finish_strings(const Seen& seen, JsonType& type) const {
  type.is_text = seen.texts.size() > kFewCategories && 2 * std::ssize(seen.texts) > seen.strings;
  std::unordered_map<std::string, std::int64_t> counts;
  if (type.is_text) {
    for (const auto& [text, count] : seen.texts)
      for (std::string& word : words_of_text(text)) counts[std::move(word)] += count;
  } else {
    counts = seen.texts;
  }
  std::vector<std::pair<std::int64_t, std::string>> by_count;
  const bool many = counts.size() > 5 * kFewCategories;  // then those that occur once are the unknown one
  for (const auto& [word, count] : counts)
    if (!many || count > 1) by_count.emplace_back(-count, word);
  std::sort(by_count.begin(), by_count.end());
  if (by_count.size() > kMostWords) by_count.resize(kMostWords);
  for (auto& [count, word] : by_count) type.words.push_back(std::move(word));
}

void JsonInference::finish_label(JsonSchema& schema) const {
  std::map<std::string, std::int64_t> texts;
  std::vector<double> numbers;
  bool whole = true;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const Value* label = follow(records_[i], label_keys_);
    if (label == nullptr || label->is_null())
      throw DataError(fmt::format("{}: expected the label \"{}\", which is missing", place_(i), schema.label_path()));
    if (label->is_list() || label->is_map())
      throw DataError(fmt::format("{}: expected the label \"{}\" to be a text, a number, true or false, not {}",
                                  place_(i), schema.label_path(), name_of(label->kind())));
    ++texts[label->is_string() ? std::string(label->as_string()) : label->to_text()];
    if (is_number(*label)) numbers.push_back(label->as_float());
    whole = whole && !label->is_float();
  }
  const bool all_numbers = numbers.size() == records_.size();
  const bool few = texts.size() <= kFewCategories && 2 * texts.size() <= records_.size();
  schema.classification_ =
      options_.task == "classification" || (options_.task == "auto" && (!all_numbers || (whole && few)));
  if (!schema.classification_ && !all_numbers)
    throw DataError(fmt::format("{}: expected the labels \"{}\" to be numbers, for regression, and some are not",
                                place_(0), schema.label_path()));
  if (schema.classification_) {
    for (const auto& [text, count] : texts) schema.classes_.push_back(text);
    return;
  }
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  schema.logarithmic_ = *least > 0 && *most > 100 * *least;
  double sum = 0;
  double squares = 0;
  for (double& x : numbers) {
    if (schema.logarithmic_) x = std::log(x);
    sum += x;
    squares += x * x;
  }
  std::tie(schema.label_mean_, schema.label_deviation_) = mean_and_deviation(std::ssize(numbers), sum, squares);
}

}  // namespace espalier::models
