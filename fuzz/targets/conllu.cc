/// CoNLL-U, and the dependency trees of its sentences.
#include "espalier/data/conllu.h"

#include "espalier/data/dependency.h"
#include "fuzz/reader.h"

namespace espalier::fuzz {

void conllu(std::string_view input) {
  for (const bool require_tree : {true, false})
    for (const data::ConlluSentence& sentence :
         read_text<data::ConlluReader>(input, data::ConlluOptions{.require_tree = require_tree})) {
      check(!sentence.words.empty(), "a sentence has words");
      sentence.metadata("text");
      const bool is_tree = accepts([&] {
        const data::Tree tree = data::dependency_tree(sentence.heads());
        check(tree.size() == static_cast<std::int32_t>(sentence.words.size()), "every word is in the tree");
      });
      check(is_tree || !require_tree, "the heads of a sentence form a tree");
    }
}

}  // namespace espalier::fuzz
