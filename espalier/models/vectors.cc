#include "espalier/models/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/data/line_reader.h"

namespace espalier::models {
namespace {

/// Calls use(word, numbers) for each line of a file in GloVe's format, or word2vec's, whose first line is two counts.
void read_vectors(const std::string& path,
                  const std::function<void(std::string_view word, std::span<const float> vector)>& use) {
  data::LineReader lines{data::Input(path)};
  std::vector<float> vector;
  std::size_t size = 0;
  for (std::string_view line; lines.next(line);) {
    vector.clear();
    const std::size_t end_of_word = std::min(line.find(' '), line.size());
    std::size_t at = end_of_word;
    while (at < line.size() && line.find_first_not_of(' ', at) != std::string_view::npos) {
      at = line.find_first_not_of(' ', at);
      float number = 0;
      const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), number);
      if (error != std::errc() || (end != line.data() + line.size() && *end != ' '))
        throw lines.error_at(at + 1, "expected a number");
      vector.push_back(number);
      at = static_cast<std::size_t>(end - line.data());
    }
    if (lines.line_number() == 1 && vector.size() == 1) continue;  // the counts of word2vec
    if (size == 0) size = vector.size();
    if (vector.size() != size || size == 0)
      throw lines.error_at(1, fmt::format("expected a word and {} numbers, not {}", size, vector.size()));
    use(line.substr(0, end_of_word), vector);
  }
}

}  // namespace

void VectorSettings::list(SettingList& list) {
  list.add("vectors", path, "file with word vectors (GloVe or word2vec as text, plain or gzip)");
}

Words VectorSettings::with_words_of_file(Words words) const {
  if (path.empty()) return words;
  std::vector<std::string> all = words.list();
  read_vectors(path, [&](std::string_view word, std::span<const float>) {
    if (words.number(word) == 0) all.emplace_back(word);
  });
  return Words(std::move(all));
}

std::optional<Tensor> VectorSettings::table(const Words& words, std::int32_t size) const {
  if (path.empty()) return std::nullopt;
  Tensor table({words.size(), size});
  Random random(1);
  const double deviation = 1 / std::sqrt(static_cast<double>(size));
  for (float& number : table.as<float>()) number = static_cast<float>(deviation * random.normal());
  std::vector<bool> exact(static_cast<std::size_t>(words.size()), false);
  std::unordered_map<std::string, std::vector<std::int32_t>> of_lower;
  for (std::size_t w = 0; w < words.list().size(); ++w)
    if (std::string text = lower_case(words.list()[w]); text != words.list()[w])
      of_lower[std::move(text)].push_back(static_cast<std::int32_t>(w) + 1);
  const auto put = [&](std::int32_t number, std::span<const float> vector) {
    std::copy(vector.begin(), vector.end(), table.as<float>().begin() + std::int64_t{number} * size);
  };
  read_vectors(path, [&](std::string_view word, std::span<const float> vector) {
    if (std::ssize(vector) != size)
      throw UsageError(
          fmt::format("{}: vectors have {} numbers, and the setting \"embedding\" is {}", path, vector.size(), size));
    if (const std::int32_t number = words.number(word); number > 0) {
      put(number, vector);
      exact[static_cast<std::size_t>(number)] = true;
    }
    if (const auto found = of_lower.find(std::string(word)); found != of_lower.end())
      for (const std::int32_t number : found->second)
        if (!exact[static_cast<std::size_t>(number)]) put(number, vector);
  });
  return table;
}

}  // namespace espalier::models
