/// Word lattices: Chinese resumes (Zhang and Yang, 2018) with the words of a lexicon in them, or lattices with their
/// statistics.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bench/data/draws.h"
#include "bench/data/sets.h"
#include "bench/data/utf8.h"
#include "bench/data/vocabulary.h"
#include "espalier/data/text_file.h"

namespace espalier::bench {
namespace {

constexpr std::size_t kShortestWord = 2;

struct Lexicon {
  std::unordered_set<std::string> words;
  std::size_t longest = 0;  // in characters
};

/// Lines of "word frequency tag".
Lexicon read_lexicon(const std::filesystem::path& path) {
  Lexicon lexicon;
  data::LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    const std::size_t end = line.find(' ');
    if (end == 0 || end == std::string_view::npos)
      throw reader.error_at(1, "expected a word, its frequency and its tag");
    const std::size_t length = characters_of(line.substr(0, end)).size();
    if (length < kShortestWord) continue;
    lexicon.words.emplace(line.substr(0, end));
    lexicon.longest = std::max(lexicon.longest, length);
  }
  return lexicon;
}

/// All words of the lexicon in a sentence, by their end.
void add_words(Lattice& lattice, const std::vector<std::string>& characters, const Lexicon& lexicon,
               Vocabulary& words) {
  for (std::size_t end = kShortestWord; end <= characters.size(); ++end) {
    std::string word = characters[end - 1];
    for (std::size_t length = 2; length <= std::min(lexicon.longest, end); ++length) {
      word.insert(0, characters[end - length]);
      if (lexicon.words.contains(word))
        lattice.words.push_back({.begin = static_cast<std::int32_t>(end - length),
                                 .end = static_cast<std::int32_t>(end),
                                 .word = words.number(word)});
    }
  }
}

/// Sentences of "character label" lines with an empty line after each.
DataSet<Lattice> read_lattices(const std::filesystem::path& sentences, const Lexicon& lexicon) {
  DataSet<Lattice> set{.real = true};
  Vocabulary words;
  Vocabulary numbers;
  Vocabulary labels;
  std::vector<std::string> characters;
  Lattice lattice;
  const auto finish = [&] {
    if (characters.empty()) return;
    add_words(lattice, characters, lexicon, words);
    set.instances.push_back(std::move(lattice));
    lattice = {};
    characters.clear();
  };
  data::LineReader reader(sentences);
  for (std::string_view line; reader.next(line);) {
    if (line.empty()) {
      finish();
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size())
      throw reader.error_at(1, "expected a character, a space and a label");
    characters.emplace_back(line.substr(0, space));
    lattice.characters.push_back(numbers.number(characters.back()));
    lattice.labels.push_back(labels.number(line.substr(space + 1)));
  }
  finish();
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
    return read_lattices(folder / "ner_zh/resume_train.char.bmes",
                         read_lexicon(folder / "ner_zh/jieba_dict_small.txt"));
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
        const std::int32_t begin = end - static_cast<std::int32_t>(kShortestWord + k);
        if (begin >= 0 && random.uniform() < kWordsAtEnd[k])
          lattice.words.push_back({.begin = begin, .end = end, .word = words.draw(random)});
      }
    }
  }
  return set;
}

}  // namespace espalier::bench
