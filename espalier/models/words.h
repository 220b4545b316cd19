/// Words: numbers for the words of training data (data/vocabulary.h), as model.json has them; all others are number 0.
///
/// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/value.h"
#include "espalier/data/vocabulary.h"

namespace espalier::models {

using data::WordCounts;

/// One more of a word.
inline void count_word(WordCounts& counts, std::string_view word) { counts.add(word); }

class ESPALIER_EXPORT Words {
 public:
  Words() = default;
  /// Those that occur at least `least` times, the most frequent first; equally frequent ones as they first occurred.
  explicit Words(const WordCounts& counts, std::int64_t least = 1);
  /// Refuses (UsageError) a word that is there twice.
  explicit Words(const std::vector<std::string>& list);

  /// 0 for a word that is not there.
  std::int32_t number(std::string_view word) const { return words_.find(word).value_or(-1) + 1; }
  /// With number 0.
  std::int32_t size() const { return words_.size() + 1; }
  /// The words with numbers 1 and up.
  std::vector<std::string> list() const;

  Value to_value() const;
  /// Refuses (UsageError) anything but a list of different texts.
  static Words from_value(const Value& value);

 private:
  data::Vocabulary words_;
};

/// ASCII letters in lower case.
ESPALIER_EXPORT std::string lower_case(std::string_view text);

}  // namespace espalier::models
