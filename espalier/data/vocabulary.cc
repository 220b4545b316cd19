#include "espalier/data/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/text_file.h"
#include "espalier/data/utf8.h"
#include "espalier/data/value.h"

namespace espalier::data {
namespace {

constexpr const char* kVocabularyKey = "espalier vocabulary";
constexpr std::int64_t kVocabularyVersion = 1;

Value number_or_null(std::int32_t number) { return number == kNone ? Value() : Value(number); }

struct VocabularyHeader {
  std::int64_t entries = 0;
  std::int32_t unknown = kNone;
  std::int32_t padding = kNone;
};

std::int64_t header_number(const LineReader& lines, const Value& header, std::string_view key, std::int64_t below) {
  const Value* value = header.find(key);
  if (value == nullptr || !value->is_integer() || value->as_integer() < 0 || value->as_integer() >= below)
    throw lines.error_at(
        1, fmt::format("expected a number from 0 to {} for \"{}\" in the header of the vocabulary", below - 1, key));
  return value->as_integer();
}

VocabularyHeader header_in(const LineReader& lines, std::string_view line) {
  const Value header = parse_json(line, lines.name());
  const Value* version = header.is_map() ? header.find(kVocabularyKey) : nullptr;
  if (version == nullptr || *version != Value(kVocabularyVersion))
    throw lines.error_at(
        1, fmt::format("expected the header of a vocabulary, {{\"{}\":{},...}}", kVocabularyKey, kVocabularyVersion));
  constexpr std::int64_t kMostEntries = std::numeric_limits<std::int32_t>::max();
  VocabularyHeader result{.entries = header_number(lines, header, "entries", kMostEntries)};
  const auto special = [&](std::string_view key) {
    const Value* value = header.find(key);
    if (value != nullptr && value->is_null()) return kNone;
    return static_cast<std::int32_t>(header_number(lines, header, key, result.entries));
  };
  result.unknown = special("unknown");
  result.padding = special("padding");
  return result;
}

Vocabulary::Entry vocabulary_entry(const LineReader& lines, std::string_view line) {
  Value value;
  try {
    value = parse_json(line);
  } catch (const DataError&) {  // refused below, with its line
  }
  const bool pair = value.is_list() && value.size() == 2 && value[0].is_string() && value[1].is_integer();
  if (!pair || value[1].as_integer() < 0)
    throw lines.error_at(1, fmt::format("expected an entry [\"word\",count], not {}", data::quoted(line)));
  return {std::string(value[0].as_string()), value[1].as_integer()};
}

}  // namespace

Vocabulary::Vocabulary(std::vector<Entry> entries, std::int32_t unknown, std::int32_t padding)
    : entries_(std::move(entries)), unknown_(unknown), padding_(padding) {
  numbers_.reserve(entries_.size());
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].count < 0)
      throw UsageError(fmt::format("vocabulary: the count of \"{}\" is {}", entries_[e].word, entries_[e].count));
    if (!numbers_.try_emplace(entries_[e].word, static_cast<std::int32_t>(e)).second)
      throw UsageError(fmt::format("vocabulary: the word \"{}\" is there twice", entries_[e].word));
  }
  for (const std::int32_t special : {unknown, padding})
    if (special != kNone) entry(special);
}

const Vocabulary::Entry& Vocabulary::entry(std::int32_t id) const {
  if (id < 0 || id >= size())
    throw UsageError(fmt::format("vocabulary: there is no word {} among {} words", id, size()));
  return entries_[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> Vocabulary::find(std::string_view word) const {
  const auto found = numbers_.find(word);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::int32_t Vocabulary::id(std::string_view word) const {
  const auto found = numbers_.find(word);
  if (found != numbers_.end()) return found->second;
  if (unknown_ == kNone)
    throw UsageError(
        fmt::format("vocabulary: {} is not there, and there is no entry for unknown words", data::quoted(word)));
  return unknown_;
}

std::string Vocabulary::to_text() const {
  const Value header = Value::map({{kVocabularyKey, kVocabularyVersion},
                                   {"entries", size()},
                                   {"unknown", number_or_null(unknown_)},
                                   {"padding", number_or_null(padding_)}});
  std::string text = header.to_text() + "\n";
  for (const Entry& entry : entries_) {
    if (!is_utf8(entry.word))
      throw UsageError(
          fmt::format("vocabulary: the word {} is not UTF-8 and cannot be saved", data::quoted(entry.word)));
    text += Value::list({entry.word, entry.count}).to_text() + "\n";
  }
  return text;
}

void Vocabulary::save(const std::filesystem::path& path) const {
  TextWriter writer(path);
  writer.write(to_text());
  writer.commit();
}

Vocabulary Vocabulary::load(Input input) {
  LineReader lines(std::move(input));
  std::string_view line;
  if (!lines.next(line)) throw lines.error_at(1, 1, "expected the header of a vocabulary, not the end");
  const VocabularyHeader header = header_in(lines, line);
  std::vector<Entry> entries;
  detail::TextNumbers first_lines;
  while (lines.next(line)) {
    if (static_cast<std::int64_t>(entries.size()) == header.entries)
      throw lines.error_at(1, fmt::format("expected the end after {} entries, as the header says", header.entries));
    entries.push_back(vocabulary_entry(lines, line));
    const auto [first, added] = first_lines.try_emplace(entries.back().word, static_cast<std::int32_t>(entries.size()));
    if (!added)
      throw lines.error_at(1, fmt::format("expected a word that is not there yet, but {} is in line {}",
                                          data::quoted(entries.back().word), first->second + 1));
  }
  if (static_cast<std::int64_t>(entries.size()) < header.entries)
    throw lines.error_at(
        lines.line_number() + 1, 1,
        fmt::format("expected {} entries, as the header says, not {}", header.entries, entries.size()));
  return Vocabulary(std::move(entries), header.unknown, header.padding);
}

std::int32_t WordCounts::add(std::string_view word, std::int64_t count) {
  auto found = numbers_.find(word);
  if (found == numbers_.end()) {
    found = numbers_.emplace(word, size()).first;
    entries_.push_back({std::string(word), 0});
  }
  entries_[static_cast<std::size_t>(found->second)].count += count;
  return found->second;
}

Vocabulary WordCounts::vocabulary(const VocabularyOptions& options) const {
  std::vector<Vocabulary::Entry> entries;
  std::int32_t padding = kNone;
  std::int32_t unknown = kNone;
  const auto add_special = [&](const std::string& word, std::int32_t& number) {
    if (word.empty()) return;
    number = static_cast<std::int32_t>(entries.size());
    entries.push_back({word, 0});
  };
  add_special(options.padding, padding);
  add_special(options.unknown, unknown);

  std::vector<std::size_t> order(entries_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto by_count = [&](std::size_t a, std::size_t b) { return entries_[a].count > entries_[b].count; };
  std::stable_sort(order.begin(), order.end(), by_count);
  std::vector<std::size_t> kept;
  for (const std::size_t e : order) {
    const Vocabulary::Entry& entry = entries_[e];
    if (padding != kNone && entry.word == options.padding) {
      entries[static_cast<std::size_t>(padding)].count += entry.count;
    } else if (entry.count >= options.min_count && (unknown == kNone || entry.word != options.unknown) &&
               (options.most == 0 || kept.size() < static_cast<std::size_t>(options.most))) {
      kept.push_back(e);
    } else if (unknown != kNone) {
      entries[static_cast<std::size_t>(unknown)].count += entry.count;
    }
  }
  if (options.order == VocabularyOptions::Order::kByFirst) std::sort(kept.begin(), kept.end());
  for (const std::size_t e : kept) entries.push_back(entries_[e]);
  return Vocabulary(std::move(entries), unknown, padding);
}

}  // namespace espalier::data
