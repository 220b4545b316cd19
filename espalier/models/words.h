/// Words: numbers for the words of training data; all others are number 0.
///
/// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/value.h"

namespace espalier::models {

/// How often each word occurs.
using WordCounts = std::map<std::string, std::int64_t, std::less<>>;

/// One more of a word.
inline void count_word(WordCounts& counts, std::string_view word) {
  const auto found = counts.find(word);
  if (found != counts.end())
    ++found->second;
  else
    counts.emplace(word, 1);
}

class ESPALIER_EXPORT Words {
 public:
  Words() = default;
  /// Those that occur at least `least` times, the most frequent first.
  explicit Words(const WordCounts& counts, std::int64_t least = 1);
  explicit Words(std::vector<std::string> list);

  /// 0 for a word that is not there.
  std::int32_t number(std::string_view word) const;
  /// With number 0.
  std::int32_t size() const { return static_cast<std::int32_t>(list_.size()) + 1; }
  /// The words with numbers 1 and up.
  const std::vector<std::string>& list() const { return list_; }

  Value to_value() const;
  /// Refuses (UsageError) what is no list of texts.
  static Words from_value(const Value& value);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> list_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

/// The characters (code points) of UTF-8 text.
ESPALIER_EXPORT std::vector<std::string_view> characters_of(std::string_view text);

/// ASCII letters in lower case.
ESPALIER_EXPORT std::string lower_case(std::string_view text);

}  // namespace espalier::models
