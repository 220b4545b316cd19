#include "espalier/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace espalier {

// The restricted Damerau-Levenshtein distance, with the last three rows of its table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kLeastStart = 2;  // letters that a word must share with the start of a name
  if (word.size() >= kLeastStart)
    for (const std::string_view name : names)
      if (name.starts_with(word)) return name;
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names)
    if (const std::size_t distance = edit_distance(word, name); distance < least && distance < name.size()) {
      least = distance;
      nearest = name;
    }
  return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(word, names);
  return nearest.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", nearest);
}

std::string suggestion_or_names(std::string_view word, std::span<const std::string_view> names) {
  if (std::string near = suggestion(word, names); !near.empty() || names.empty()) return near;
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 < names.size() ? ", " : " and ", names[i]);
  return (names.size() == 1 ? "; there is only " : "; there are ") + list;
}

}  // namespace espalier
