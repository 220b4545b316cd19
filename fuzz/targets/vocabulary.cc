/// Vocabularies as they are saved.
#include "espalier/data/vocabulary.h"

#include "fuzz/input.h"

namespace espalier::fuzz {

void vocabulary(std::string_view input) {
  check_round_trip(
      input, [](std::string_view text) { return data::Vocabulary::load(data::Input::text(std::string(text))); },
      [](const data::Vocabulary& words) {
        for (std::int32_t id = 0; id < words.size(); ++id) check(words.id(words.word(id)) == id, "words have their id");
        return words.to_text();
      });
}

}  // namespace espalier::fuzz
