/// Word lattices: Chinese resumes (Zhang and Yang, 2018) with the words of a lexicon in them, or lattices with their
/// statistics.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/data/draws.h"
#include "bench/data/sets.h"
#include "espalier/data/conll.h"
#include "espalier/data/lattice.h"
#include "espalier/data/vocabulary.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kShortestWord = 2;

/// A lattice for each sentence, with the words of the lexicon that have two or more characters.
DataSet<Lattice> read_lattices(const std::filesystem::path& sentences, const std::filesystem::path& words_file) {
  data::LexiconReader lexicon_reader(words_file);
  const data::Lexicon lexicon(lexicon_reader, kShortestWord);
  DataSet<Lattice> set{.real = true};
  data::WordCounts words;
  data::WordCounts numbers;
  data::WordCounts labels;
  data::ConllReader reader(sentences);
  for (data::TaggedSentence sentence; reader.next(sentence);) {
    Lattice& lattice = set.instances.emplace_back();
    for (const std::string& character : sentence.words) lattice.characters.push_back(numbers.add(character));
    for (const std::string& label : sentence.tags) lattice.labels.push_back(labels.add(label));
    for (const data::LatticeWord& word : lexicon.words_in(sentence.words))
      lattice.words.push_back({.begin = word.begin, .end = word.end, .word = words.add(lexicon.word(word.word))});
  }
  set.words = words.size();
  set.labels = labels.size();
  set.characters = numbers.size();
  return set;
}

// Counted in resume_train.char.bmes with the words of jieba_dict_small.txt: 3,821 sentences of 32.5 characters (1,792
// distinct) and 13.7 words (4,467 distinct) on average; 28 labels. So many words of 2, 3, 4 and more characters end at
// a character, on average:
constexpr std::int32_t kSentences = 3821;
constexpr std::array kWordsAtEnd{0.337, 0.051, 0.031, 0.003};
constexpr std::array<Quantile, 11> kLengths{{{0, 3},
                                             {0.05, 6},
                                             {0.1, 7},
                                             {0.25, 16},
                                             {0.5, 26},
                                             {0.7, 34},
                                             {0.8, 43},
                                             {0.9, 62},
                                             {0.95, 80},
                                             {0.99, 125},
                                             {1, 178}}};

}  // namespace

DataSet<Lattice> word_lattices(const std::filesystem::path& folder, const Generate& generate) {
  if (!folder.empty())
    return read_lattices(folder / "ner_zh/resume_train.char.bmes", folder / "ner_zh/jieba_dict_small.txt");
  const Shares characters = zipf(1792, 20, 1.8);
  const Shares words = zipf(4467, 4, 1.15);
  const Shares labels = zipf(28, 1, 1.6);
  DataSet<Lattice> set{.words = words.size(), .labels = labels.size(), .characters = characters.size()};
  set.instances.resize(static_cast<std::size_t>(generate.count > 0 ? generate.count : kSentences));
  Random random(generate.seed);
  for (Lattice& lattice : set.instances) {
    const std::int32_t length = draw_count(random, kLengths);
    for (std::int32_t end = 1; end <= length; ++end) {
      lattice.characters.push_back(characters.draw(random));
      lattice.labels.push_back(labels.draw(random));
      for (std::size_t k = 0; k < kWordsAtEnd.size(); ++k) {
        const std::int32_t begin = end - kShortestWord - static_cast<std::int32_t>(k);
        if (begin >= 0 && random.uniform() < kWordsAtEnd[k])
          lattice.words.push_back({.begin = begin, .end = end, .word = words.draw(random)});
      }
    }
  }
  return set;
}

}  // namespace espalier::bench
