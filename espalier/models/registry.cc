#include "espalier/models/registry.h"

#include <array>

namespace espalier::models {

std::span<const Entry> registry() {
  static constexpr std::array kEntries{
      Entry{"sentiment", "Classifies phrases by their parse trees: treebanks such as the Stanford Sentiment Treebank.",
            make_sentiment},
      Entry{"tagger", "Tags the words of sentences: parts of speech from CoNLL-U, named entities from CoNLL columns.",
            make_tagger},
      Entry{"relatedness", "Tells how related two sentences are, from their dependency trees: SICK or JSON lines.",
            make_relatedness},
      Entry{"lattice", "Tags characters with the help of a lexicon: named entities in Chinese, from columns.",
            make_lattice},
      Entry{"molecules", "Predicts numbers or classes of molecules: tables with SMILES, SDF. Needs RDKit.",
            make_molecules},
      Entry{"plans", "Predicts how long queries run, from PostgreSQL's plans: EXPLAIN (ANALYZE, FORMAT JSON).",
            make_plans},
      Entry{"json", "Learns a field of any JSON lines from all other fields: a class or a number.", make_json},
  };
  return kEntries;
}

}  // namespace espalier::models
