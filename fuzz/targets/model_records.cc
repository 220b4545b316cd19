/// What standard models read beside their data: word vectors by a setting, and sentences in JSON.
#include <cmath>

#include "espalier/data/json.h"
#include "espalier/models/tag_records.h"
#include "espalier/models/vectors.h"
#include "espalier/models/words.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void model_records(std::string_view input) {
  const MemoryFile file(input);
  const models::VectorSettings vectors{.path = file.path()};
  accepts([&] {
    const models::Words words = vectors.with_words_of_file(models::Words({"the", "of"}));
    for (std::int32_t number = 1; number < words.size(); ++number)
      check(words.number(words.list()[static_cast<std::size_t>(number) - 1]) == number, "words are there once");
    const std::optional<Tensor> table = vectors.table(words, 2);
    check(table && table->shape() == Shape{words.size(), 2}, "every word has a row");
    for (const float value : table->as<float>()) check(std::isfinite(value), "values are finite");
  });
  accepts([&] {
    const data::TaggedSentence sentence = models::tagged_from_json(data::parse_json(input));
    check(!sentence.words.empty(), "a sentence has words");
    if (models::has_spans(sentence.tags)) data::spans_of(sentence.tags);
  });
}

}  // namespace espalier::fuzz
