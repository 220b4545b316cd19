/// JsonSchema: what JSON records look like, found out from the records themselves, and records as flat instances.
///
/// A *type* describes the values at one place of a record, such as "user.name"; it may have seen several kinds of
/// values there. A key that occurs inside its own value makes a recursive type: {"left": {"left": ...}} has one type
/// for all values of "left". A type that refers to a recursive one and has mostly the same keys is the same type, so
/// that the root of a tree is like its inner nodes.
///
/// The label is a field of the record, and its key is never an input wherever that type occurs: if records are trees
/// with a label at every node, the labels of inner nodes are further targets.
///
/// Nothing here recurses: records may be nested to any depth.
///
/// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/value.h"

namespace espalier::models {

/// The numbers at one place. They are given to a network as (x - mean) / deviation, and the same of their logarithms
/// sign(x) log(1 + |x|).
struct NumberScale {
  double mean = 0;
  double deviation = 1;
  double log_mean = 0;
  double log_deviation = 1;
};

struct JsonType {
  struct Field {
    std::string key;
    std::int32_t type = 0;
  };

  std::string path;  // of the first place, for people: "explain.Plan.Plans[]"
  bool has_numbers = false;
  NumberScale scale;
  bool has_strings = false;
  /// Strings are texts of words, else categories.
  bool is_text = false;
  /// The categories or words that have numbers of their own, 1 and up; 0 is every other.
  std::vector<std::string> words;
  bool has_lists = false;
  std::int32_t item = -1;  // the type of the items of lists
  bool is_bag = false;     // the order of items does not matter
  bool has_maps = false;
  std::vector<Field> fields;  // of maps, without the label
  bool recursive = false;     // contains itself
  bool has_label = false;     // maps within the record may have the label too
};

/// A record, flattened. Children come before their parent; the root is last.
struct JsonInstance {
  enum class Kind : std::int32_t { kNull, kFalse, kTrue, kNumber, kCategory, kText, kEmpty, kList, kMap };
  struct Node {
    std::int32_t type = 0;
    Kind kind = Kind::kNull;
    std::int32_t begin = 0;  // of its children, words or numbers
    std::int32_t end = 0;
    float target = 0;
    bool has_target = false;
  };
  std::vector<Node> nodes;
  /// Of maps one per field, -1 for a missing one; of lists one per item.
  std::vector<std::int32_t> children;
  std::vector<std::int32_t> words;  // of categories and texts
  std::vector<float> numbers;       // two per number
};

struct JsonSchemaOptions {
  /// The name of the label: a key of the record, or a path of keys with points between them. A key that is deeper in
  /// the record is found if there is only one place with it.
  std::string label;
  /// Keys that are no inputs, wherever they occur; a * at the end stands for any ending: "Actual *".
  std::vector<std::string> ignore = {};  // NOLINT(readability-redundant-member-init): may be left out
  /// "auto", "classification" or "regression". auto: classification if labels are texts, true and false, or whole
  /// numbers of at most 20 values of which most occur several times.
  std::string task = "auto";
  /// Lists as "sequences" or "bags"; "auto": bags where they are longer than 50 on average.
  std::string lists = "auto";
  /// The most fields of a map: the most frequent ones.
  std::int32_t most_fields = 256;
};

class ESPALIER_EXPORT JsonSchema {
 public:
  JsonSchema() = default;
  /// Infers the schema of records. `place` names a record in errors, such as "train.jsonl:7". Refuses (DataError) no
  /// records, one that is no map or lacks the label, labels that are neither texts nor numbers, and a label that
  /// occurs at several places.
  JsonSchema(std::span<const Value> records, const JsonSchemaOptions& options,
             const std::function<std::string(std::size_t)>& place);

  /// A record as an instance. With `labelled`, refuses (DataError) a record without its label.
  JsonInstance encode(const Value& record, bool labelled, std::string_view place) const;

  bool is_classification() const { return classification_; }
  /// Whether the label is a number that is learnt as its logarithm.
  bool is_logarithmic() const { return logarithmic_; }
  const std::vector<std::string>& classes() const { return classes_; }
  /// A predicted number, from the output of a network that learnt targets.
  double number_of(double output) const;
  /// The number or class of a record; NaN if it has none that is known.
  double label_of(const Value& record) const;

  const std::vector<JsonType>& types() const { return types_; }
  std::int32_t root() const { return root_; }
  /// "explain.Execution Time".
  std::string label_path() const;
  /// Types for people, one a line.
  std::string describe() const;

  Value to_value() const;
  /// Refuses (DataError) what to_value() did not make.
  static JsonSchema from_value(const Value& value);

 private:
  friend class JsonInference;
  class Flattening;
  void index();
  void find_recursive();
  const Value* label_in(const Value& record) const;
  float target_of(const Value& label) const;

  std::vector<JsonType> types_;
  std::int32_t root_ = 0;
  std::vector<std::string> label_keys_;  // the way from the root of a record
  bool classification_ = false;
  std::vector<std::string> classes_;
  bool logarithmic_ = false;  // regression learns log(x)
  double label_mean_ = 0;
  double label_deviation_ = 1;

  struct Index {
    std::unordered_map<std::string, std::int32_t> words;
    std::unordered_map<std::string, std::int32_t> fields;
  };
  std::vector<Index> index_;  // by type
  std::unordered_map<std::string, std::int32_t> class_index_;
};

/// The words of a text: runs of letters and digits, and every other character by itself; in lower case.
ESPALIER_EXPORT std::vector<std::string> words_of_text(std::string_view text);

}  // namespace espalier::models
