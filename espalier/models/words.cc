#include "espalier/models/words.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "espalier/data/utf8.h"

namespace espalier::models {

Words::Words(const WordCounts& counts, std::int64_t least) {
  std::vector<std::pair<std::int64_t, std::string_view>> by_count;
  for (const auto& [word, count] : counts)
    if (count >= least) by_count.emplace_back(-count, word);
  std::sort(by_count.begin(), by_count.end());
  std::vector<std::string> list;
  list.reserve(by_count.size());
  for (const auto& [count, word] : by_count) list.emplace_back(word);
  *this = Words(std::move(list));
}

Words::Words(std::vector<std::string> list) : list_(std::move(list)) {
  for (std::size_t i = 0; i < list_.size(); ++i) numbers_.emplace(list_[i], static_cast<std::int32_t>(i) + 1);
}

std::int32_t Words::number(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? 0 : found->second;
}

Value Words::to_value() const {
  std::vector<Value> items;
  for (const std::string& word : list_) items.emplace_back(word);
  return Value::list(std::move(items));
}

Words Words::from_value(const Value& value) {
  std::vector<std::string> list;
  for (const Value& item : value.items()) list.emplace_back(item.as_string());
  return Words(std::move(list));
}

std::vector<std::string_view> characters_of(std::string_view text) { return data::characters_of(text); }

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x80) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace espalier::models
