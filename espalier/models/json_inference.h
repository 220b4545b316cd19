/// JsonInference: finds the schema of JSON records (models/json_schema.h).
///
/// It makes three passes over all records: for the keys that occur inside their own value, for the types of all
/// places, and, after alike types were merged, for the types once more, now with their numbers and words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "espalier/data/value.h"
#include "espalier/models/json_schema.h"

namespace espalier::models {

class JsonInference {
 public:
  JsonInference(std::span<const Value> records, const JsonSchemaOptions& options,
                const std::function<std::string(std::size_t)>& place)
      : records_(records), options_(options), place_(place) {}

  JsonSchema infer();

 private:
  /// What was seen at the places of a type.
  struct Seen {
    std::string path;
    std::int64_t numbers = 0;
    double sum = 0, squares = 0, log_sum = 0, log_squares = 0;
    std::int64_t strings = 0;
    std::int64_t words_in_strings = 0;
    std::unordered_map<std::string, std::int64_t> texts;
    std::int64_t lists = 0;
    std::int64_t items = 0;
    std::int64_t maps = 0;
    std::int32_t item = -1;
    bool is_item = false;                                                              // of a list
    std::map<std::string, std::pair<std::int32_t, std::int64_t>, std::less<>> fields;  // type and count, by key
  };

  void find_label();
  void find_recursive_keys();
  void see_all();
  void see(const Value& value, std::int32_t type);
  std::int32_t field_type(std::int32_t of, const std::string& key);
  std::int32_t item_type(std::int32_t of);
  std::int32_t new_type(std::string path, bool is_item);
  std::int32_t canonical(std::int32_t type) const;
  bool merge_alike();
  bool alike(const Seen& a, const Seen& b) const;
  bool ignored(std::string_view key) const;
  JsonType finished(const Seen& seen) const;
  void finish_strings(const Seen& seen, JsonType& type) const;
  void finish_label(JsonSchema& schema) const;

  std::span<const Value> records_;
  const JsonSchemaOptions& options_;
  const std::function<std::string(std::size_t)>& place_;
  std::vector<std::string> label_keys_;
  std::unordered_set<std::string> recursive_keys_;
  std::vector<Seen> seen_;
  std::unordered_map<std::string, std::int32_t> of_recursive_key_;
  /// Places that were merged, by path. Kept over see_all().
  std::map<std::string, std::string> same_as_;
  std::unordered_map<std::string, std::int32_t> by_path_;
};

}  // namespace espalier::models
