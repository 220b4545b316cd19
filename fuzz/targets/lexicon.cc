/// Lexicons, and the lattices of their own lines as sentences.
#include "espalier/data/lattice.h"

#include "fuzz/reader.h"

namespace espalier::fuzz {

void lexicon(std::string_view input) {
  read_text<data::LexiconReader>(input);
  accepts([&] {
    data::LexiconReader reader(data::Input::text(std::string(input)), {.skip_damaged = true});
    const data::Lexicon words(reader);
    for (const std::string_view line : lines_of(input)) {
      const data::Lattice lattice = data::lattice_of(line, words);
      std::string all;
      for (const std::string& character : lattice.characters) all += character;
      check(all == line, "the characters are the sentence");
      for (const data::LatticeWord& one : lattice.words) {
        std::string text;
        for (std::int32_t at = one.begin; at < one.end; ++at) text += lattice.characters[static_cast<std::size_t>(at)];
        check(text == words.word(one.word), "a word of the lattice is one of the lexicon");
      }
    }
  });
}

}  // namespace espalier::fuzz
