#include "espalier/models/registry.h"

#include <array>

namespace espalier::models {

std::span<const Entry> registry() {
  static constexpr std::array kEntries{
      Entry{"sentiment", "Classifies phrases by their parse trees: treebanks such as the Stanford Sentiment Treebank.",
            "--data sst --epochs 6 --average-decay 0.999 --out sentiment.run", make_sentiment},
      Entry{"tagger", "Tags the words of sentences: parts of speech from CoNLL-U, named entities from CoNLL columns.",
            "--data train.conllu --held-out-data dev.conllu --crf false --out pos.run", make_tagger},
      Entry{"relatedness", "Tells how related two sentences are, from their dependency trees: SICK or JSON lines.",
            "--data sick/parsed --vectors vectors.300.txt.gz --out relatedness.run", make_relatedness},
      Entry{"lattice", "Tags characters with the help of a lexicon: named entities in Chinese, from columns.",
            "--data resume --lexicon words.txt --out names.run", make_lattice},
      Entry{"parser", "Finds the dependency trees of sentences, from CoNLL-U.",
            "--data ud_english_ewt --epochs 10 --schedule cosine --out parser.run", make_parser},
      Entry{"molecules", "Predicts numbers or classes of molecules: tables with SMILES, SDF. Needs RDKit.",
            "--data esol.csv --targets \"log solubility\" --test 0.1 --out esol.run", make_molecules},
      Entry{"plans", "Predicts how long queries run, from PostgreSQL's plans: EXPLAIN (ANALYZE, FORMAT JSON).",
            "--data plans.jsonl --test 0.2 --out plans.run", make_plans},
      Entry{"json", "Learns a field of any JSON lines from all other fields: a class or a number.",
            "--data tickets.jsonl --label priority --out priority.run", make_json},
  };
  return kEntries;
}

}  // namespace espalier::models
