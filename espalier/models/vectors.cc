#include "espalier/models/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/data/word_vectors.h"

namespace espalier::models {

void VectorSettings::list(SettingList& list) {
  list.add("vectors", path, "file with word vectors (GloVe or word2vec as text, plain or gzip)");
}

Words VectorSettings::with_words_of_file(Words words) const {
  if (path.empty()) return words;
  std::vector<std::string> all = words.list();
  std::unordered_set<std::string> added;
  data::WordVectorReader reader(path);
  for (data::WordVector vector; reader.next(vector);)
    if (words.number(vector.word) == 0 && added.insert(vector.word).second) all.push_back(vector.word);
  return Words(all);
}

std::optional<Tensor> VectorSettings::table(const Words& words, std::int32_t size) const {
  if (path.empty()) return std::nullopt;
  Tensor table({words.size(), size});
  Random random(1);
  const double deviation = 1 / std::sqrt(static_cast<double>(size));
  for (float& number : table.as<float>()) number = static_cast<float>(deviation * random.normal());
  std::vector<bool> exact(static_cast<std::size_t>(words.size()), false);
  std::unordered_map<std::string, std::vector<std::int32_t>> of_lower;
  for (const std::string& word : words.list())
    if (std::string text = lower_case(word); text != word) of_lower[std::move(text)].push_back(words.number(word));
  const auto put = [&](std::int32_t number, std::span<const float> vector) {
    std::copy(vector.begin(), vector.end(), table.as<float>().begin() + std::int64_t{number} * size);
  };
  data::WordVectorReader reader(path);
  for (data::WordVector vector; reader.next(vector);) {
    if (reader.dimension() != size)
      throw UsageError(fmt::format("{}: vectors have {} numbers, and the setting \"embedding\" is {}", path,
                                   reader.dimension(), size));
    if (const std::int32_t number = words.number(vector.word); number > 0) {
      put(number, vector.values);
      exact[static_cast<std::size_t>(number)] = true;
    }
    if (const auto found = of_lower.find(vector.word); found != of_lower.end())
      for (const std::int32_t number : found->second)
        if (!exact[static_cast<std::size_t>(number)]) put(number, vector.values);
  }
  return table;
}

}  // namespace espalier::models
