/// Word vectors from a file as initial embeddings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "espalier/models/settings.h"
#include "espalier/models/words.h"
#include "espalier/tensor/tensor.h"

namespace espalier::models {

struct VectorSettings {
  std::string path;

  void list(SettingList& list);
  /// The words, and after them the others of the file, each once: words that only later data have get their vectors
  /// too.
  Words with_words_of_file(Words words) const;
  /// A row per number of `words`: the vector of the file, for words that it has as they are or in lower case, and
  /// numbers as an embedding begins with for others. Nothing without a file. Refuses (UsageError) vectors of another
  /// size than `size`, and what the reader refuses.
  std::optional<Tensor> table(const Words& words, std::int32_t size) const;
};

}  // namespace espalier::models
