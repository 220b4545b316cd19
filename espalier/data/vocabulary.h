/// Vocabulary: the distinct words of some data, or tags, or characters, each with a number and a count.
///
///     data::WordCounts counts;
///     for (const std::string& word : sentence.words) counts.add(word);
///     const data::Vocabulary words = counts.vocabulary({.min_count = 2});
///     words.id("unheard-of");   // that of "<unk>"
///
/// Thread safety: const functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/tree.h"

namespace espalier::data {

namespace detail {

/// Lets a map of strings be searched for a string_view.
struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using TextNumbers = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

}  // namespace detail

class ESPALIER_EXPORT Vocabulary {
 public:
  struct Entry {
    std::string word;
    std::int64_t count = 0;

    bool operator==(const Entry&) const = default;
  };

  Vocabulary() = default;
  /// `unknown` and `padding` are numbers of entries, or kNone. Refuses (UsageError) a word that is there twice,
  /// negative counts, and numbers without an entry.
  explicit Vocabulary(std::vector<Entry> entries, std::int32_t unknown = kNone, std::int32_t padding = kNone);

  std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
  /// The word's number; that of the unknown entry if the word is not there. Refuses (UsageError) a word that is not
  /// there if there is no unknown entry.
  std::int32_t id(std::string_view word) const;
  /// The word's number; nothing if the word is not there.
  std::optional<std::int32_t> find(std::string_view word) const;
  bool contains(std::string_view word) const { return find(word).has_value(); }
  /// Refuses (UsageError) a number without an entry.
  const std::string& word(std::int32_t id) const { return entry(id).word; }
  /// How often the word was counted; of the unknown entry: all words that were left out.
  std::int64_t count(std::int32_t id) const { return entry(id).count; }
  /// kNone if there is no such entry.
  std::int32_t unknown() const { return unknown_; }
  std::int32_t padding() const { return padding_; }
  const std::vector<Entry>& entries() const { return entries_; }

  /// JSON lines: a header, then ["word",count] for each entry, in their order. Refuses (UsageError) a word that is not
  /// UTF-8.
  std::string to_text() const;
  /// Writes to_text() all or nothing, gzip-compressed if the name ends with ".gz".
  void save(const std::filesystem::path& path) const;
  /// Reads what save() or to_text() wrote. Refuses (DataError, "file:line:column: expected ...") anything else.
  static Vocabulary load(Input input);

  bool operator==(const Vocabulary& other) const {
    return entries_ == other.entries_ && unknown_ == other.unknown_ && padding_ == other.padding_;
  }

 private:
  const Entry& entry(std::int32_t id) const;

  std::vector<Entry> entries_;
  detail::TextNumbers numbers_;
  std::int32_t unknown_ = kNone;
  std::int32_t padding_ = kNone;
};

struct VocabularyOptions {
  enum class Order {
    kByCount,  // most frequent first; equal counts in the order of their first occurrence
    kByFirst,  // in the order of their first occurrence
  };

  /// Words that occur less often are left out, and count as unknown.
  std::int64_t min_count = 1;
  /// At most so many words besides the unknown and padding entries, the most frequent; 0: no limit.
  std::int32_t most = 0;
  /// The padding entry, which comes first, and the unknown entry after it; an empty text means no such entry.
  std::string padding{};
  std::string unknown = "<unk>";
  Order order = Order::kByCount;
};

/// Counts words.
class ESPALIER_EXPORT WordCounts {
 public:
  /// The word's number: words are numbered in the order of their first occurrence.
  std::int32_t add(std::string_view word, std::int64_t count = 1);
  /// Of distinct words.
  std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
  /// By number.
  const std::vector<Vocabulary::Entry>& entries() const { return entries_; }

  /// The words that the options leave. A word spelled as the unknown or the padding entry is counted as that entry.
  Vocabulary vocabulary(const VocabularyOptions& options = {}) const;

 private:
  std::vector<Vocabulary::Entry> entries_;
  detail::TextNumbers numbers_;
};

}  // namespace espalier::data
