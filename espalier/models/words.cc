#include "espalier/models/words.h"

#include <cctype>
#include <utility>

namespace espalier::models {

Words::Words(const WordCounts& counts, std::int64_t least)
    : words_(counts.vocabulary({.min_count = least, .unknown = ""})) {}

Words::Words(const std::vector<std::string>& list) {
  std::vector<data::Vocabulary::Entry> entries;
  entries.reserve(list.size());
  for (const std::string& word : list) entries.push_back({.word = word});
  words_ = data::Vocabulary(std::move(entries));
}

std::vector<std::string> Words::list() const {
  std::vector<std::string> list;
  list.reserve(words_.entries().size());
  for (const data::Vocabulary::Entry& entry : words_.entries()) list.push_back(entry.word);
  return list;
}

Value Words::to_value() const {
  std::vector<Value> items;
  items.reserve(words_.entries().size());
  for (const data::Vocabulary::Entry& entry : words_.entries()) items.emplace_back(entry.word);
  return Value::list(std::move(items));
}

Words Words::from_value(const Value& value) {
  std::vector<std::string> list;
  list.reserve(value.size());
  for (const Value& item : value.items()) list.emplace_back(item.as_string());
  return Words(list);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x80) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace espalier::models
