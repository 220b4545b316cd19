#include "espalier/models/json_samples.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace espalier::models {
namespace {

/// Records differ in their turn: each place has another kind of value in each of a few turns.
constexpr std::uint32_t kTurns = 40;
/// A recursive type contains itself so often.
constexpr int kMostDepth = 3;

class SampleRecord {
 public:
  SampleRecord(const JsonSchema& schema, std::uint32_t turn)
      : schema_(schema), turn_(turn), depth_(schema.types().size(), 0) {}

  Value record() { return map(schema_.root()); }

 private:
  enum class Choice : std::int32_t { kNull, kFalse, kTrue, kNumber, kText, kUnknownText, kEmpty, kList, kMap };

  const JsonType& type(std::int32_t number) const { return schema_.types()[static_cast<std::size_t>(number)]; }
  /// Less than `bound`: another number at another place, and in another turn.
  std::uint32_t below(std::size_t bound) {
    state_ = (state_ ^ (turn_ + 0x9E3779B9U)) * 0x85EBCA6BU;
    state_ ^= state_ >> 13U;
    return state_ % static_cast<std::uint32_t>(bound);
  }

  Value value(std::int32_t number) {
    const JsonType& of = type(number);
    int& depth = depth_[static_cast<std::size_t>(number)];
    std::vector<Choice> choices{Choice::kNull, Choice::kFalse, Choice::kTrue};
    if (of.has_numbers) choices.insert(choices.end(), 4, Choice::kNumber);
    if (of.has_strings) choices.insert(choices.end(), {Choice::kText, Choice::kText, Choice::kUnknownText});
    if (of.has_lists) choices.push_back(Choice::kEmpty);
    if (depth < kMostDepth && of.has_lists && of.item >= 0) choices.insert(choices.end(), 4, Choice::kList);
    if (depth < kMostDepth && of.has_maps) choices.insert(choices.end(), 6, Choice::kMap);
    ++depth;
    Value made = make(choices[below(choices.size())], number);
    --depth;
    return made;
  }
  Value make(Choice choice, std::int32_t number) {
    const JsonType& of = type(number);
    switch (choice) {
      case Choice::kNull: return {};
      case Choice::kFalse: return false;
      case Choice::kTrue: return true;
      case Choice::kNumber: return of.scale.mean;
      case Choice::kText: return of.words.empty() ? "?" : text(of.words[below(of.words.size())]);
      case Choice::kUnknownText: return "?";
      case Choice::kEmpty: return Value::list({});
      case Choice::kList: {
        std::vector<Value> items;
        for (std::uint32_t count = 1 + below(3); count > 0; --count) items.push_back(value(of.item));
        return Value::list(std::move(items));
      }
      case Choice::kMap: return map(number);
    }
    return {};
  }
  std::string text(const std::string& word) { return below(2) == 0 ? word : word + " " + word; }

  /// With all fields, or without some.
  Value map(std::int32_t number) {
    const bool is_whole = below(2) == 0;
    std::vector<Value::Entry> entries;
    for (const JsonType::Field& field : type(number).fields)
      if (is_whole || below(2) == 0) entries.push_back({field.key, value(field.type)});
    return Value::map(std::move(entries));
  }

  const JsonSchema& schema_;
  std::uint32_t turn_;
  std::uint32_t state_ = 1;
  std::vector<int> depth_;  // by type: how often the value under way contains it
};

}  // namespace

std::vector<Value> json_samples(const JsonSchema& schema) {
  std::vector<Value> records;
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) records.push_back(SampleRecord(schema, turn).record());
  return records;
}

}  // namespace espalier::models
