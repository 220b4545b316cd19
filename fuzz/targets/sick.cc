/// SICK, the table, and its parsed form: eight files, here parts of the input between lines "====".
#include "espalier/data/sick.h"

#include "espalier/data/dependency.h"
#include "fuzz/reader.h"

namespace espalier::fuzz {

void sick(std::string_view input) {
  using data::Input;
  for (const data::SickPair& pair : read_text<data::SickReader>(input))
    check(pair.relatedness >= 1 && pair.relatedness <= 5, "scores are in range");

  const std::vector<std::string> parts = parts_of(input, data::ParsedSickReader::kFiles);
  const auto file = [&](std::size_t i) { return Input::text(parts[i], "file " + std::to_string(i)); };
  const auto pairs = read_both_ways([&](const data::ReadOptions& read) {
    return data::ParsedSickReader({file(0), file(1), file(2), file(3), file(4), file(5), file(6), file(7)}, read);
  });
  for (const data::ParsedPair& pair : pairs)
    for (const data::ParsedSentence& sentence : {pair.a, pair.b}) {
      check(sentence.words.size() == sentence.relations.size(), "every word has a relation");
      check(data::dependency_tree(sentence.heads).size() == static_cast<std::int32_t>(sentence.words.size()),
            "heads form a tree");
    }
}

}  // namespace espalier::fuzz
