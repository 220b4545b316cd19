/// Reading files: the program of docs/data.md.
#include <espalier/data/conll.h>
#include <espalier/data/treebank.h>
#include <espalier/data/vocabulary.h>
#include <espalier/data/word_vectors.h>

#include <cstdio>
#include <fstream>

namespace data = espalier::data;

int main() {
  std::ofstream("reading_data.trees") << "(3 (2 It) (4 works))\n(1 (2 It) (0 fails)\n(2 (2 It) (2 runs))\n";
  std::ofstream("reading_data.conll") << "Ada\tB-PER\nLovelace\tI-PER\nwrote\tO\n";
  std::ofstream("reading_data.vectors") << "it 0.5 -1\nother 1 1\nworks 2 0.25\n";

  data::TreebankReader trees("reading_data.trees", {.labels = 5, .binary = true}, {.skip_damaged = true});
  data::WordCounts counts;
  for (data::LabelledTree tree; trees.next(tree);)
    for (const std::string& word : tree.words) counts.add(word == "It" ? "it" : word);
  std::puts(trees.report().summary().c_str());

  const data::Vocabulary words = counts.vocabulary({.min_count = 1, .padding = "<pad>"});
  words.save("reading_data.words");
  const data::Vocabulary loaded = data::Vocabulary::load("reading_data.words");
  std::printf("%d words; \"it\" is number %d\n", loaded.size(), loaded.id("it"));

  const data::WordVectorTable vectors = data::read_word_vectors("reading_data.vectors", words);
  std::printf("%d of %d words have vectors of %d numbers\n", vectors.found_count, words.size(), vectors.dimension);

  data::ConllReader sentences("reading_data.conll", {.separator = '\t', .scheme = data::TagScheme::kBio});
  std::size_t spans = 0;
  for (data::TaggedSentence sentence; sentences.next(sentence);) spans += data::spans_of(sentence.tags).size();
  const bool right = loaded == words && trees.report().damaged == 1 && vectors.found_count == 2 && spans == 1;
  return right ? 0 : 1;
}
