/// Word vectors, with and without a header.
#include "espalier/data/word_vectors.h"

#include <cmath>

#include "fuzz/reader.h"

namespace espalier::fuzz {

void word_vectors(std::string_view input) {
  using data::WordVectorOptions;
  const data::Vocabulary words({{"the", 2}, {"a b", 1}, {"1", 1}});
  for (const WordVectorOptions& options :
       {WordVectorOptions{}, WordVectorOptions{.header = WordVectorOptions::Header::kAbsent, .dimension = 2},
        WordVectorOptions{.header = WordVectorOptions::Header::kPresent}, WordVectorOptions{.only = &words}}) {
    std::size_t dimension = 0;
    for (const data::WordVector& one : read_text<data::WordVectorReader>(input, options)) {
      if (dimension == 0) dimension = one.values.size();
      check(one.values.size() == dimension, "vectors have one dimension");
      for (const float value : one.values) check(std::isfinite(value), "values are finite");
      check(options.only == nullptr || words.contains(one.word), "vectors of other words are passed over");
    }
  }
  for (const bool skip_damaged : {false, true})
    accepts([&] {
      const data::WordVectorTable table =
          data::read_word_vectors(data::Input::text(std::string(input)), words, {}, {.skip_damaged = skip_damaged});
      check(table.values.size() == static_cast<std::size_t>(table.dimension * words.size()), "a row per word");
    });
}

}  // namespace espalier::fuzz
