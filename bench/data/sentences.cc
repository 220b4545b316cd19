/// Tagged sentences: the English Web Treebank with its universal tags, or sentences with its statistics.
#include <array>
#include <string_view>
#include <vector>

#include "bench/data/english.h"
#include "bench/data/sets.h"
#include "espalier/data/conllu.h"
#include "espalier/data/utf8.h"
#include "espalier/data/vocabulary.h"

namespace espalier::bench {
namespace {

DataSet<TaggedSentence> read_sentences(const std::filesystem::path& path) {
  DataSet<TaggedSentence> set{.real = true};
  data::WordCounts words;
  data::WordCounts tags;
  data::ConlluReader reader(path);
  for (data::ConlluSentence sentence; reader.next(sentence);) {
    TaggedSentence& tagged = set.instances.emplace_back();
    for (const data::ConlluWord& word : sentence.words) {
      tagged.words.push_back(words.add(word.form));
      tagged.tags.push_back(tags.add(word.upos));
    }
  }

  data::WordCounts characters;
  std::vector<std::vector<std::int32_t>> spelling;
  for (const data::Vocabulary::Entry& entry : words.entries()) {
    std::vector<std::int32_t>& numbers = spelling.emplace_back();
    if (entry.count > english::kRareCount) continue;
    for (const std::string_view character : data::characters_of(entry.word))
      numbers.push_back(characters.add(character));
  }
  for (TaggedSentence& tagged : set.instances)
    for (const std::int32_t word : tagged.words) tagged.characters.push_back(spelling[static_cast<std::size_t>(word)]);

  set.words = words.size();
  set.labels = tags.size();
  set.characters = characters.size();
  return set;
}

// Of the words that occur at most five times: counted as those of english.h.
constexpr std::int32_t kCharacters = 101;
constexpr std::array<Quantile, 6> kSpelling{{{0, 1}, {0.1, 4}, {0.5, 7}, {0.9, 10.5}, {0.99, 15}, {1, 30}}};

/// The spelling of a word is the same wherever it is used.
std::vector<std::int32_t> spell(std::uint64_t seed, std::int32_t word, const Shares& characters) {
  Random random(seed, static_cast<std::uint64_t>(word) + 1);
  std::vector<std::int32_t> spelling(static_cast<std::size_t>(draw_count(random, kSpelling)));
  for (std::int32_t& character : spelling) character = characters.draw(random);
  return spelling;
}

}  // namespace

DataSet<TaggedSentence> tagged_sentences(const std::filesystem::path& folder, const Generate& generate) {
  if (!folder.empty()) return read_sentences(english::file_in(folder));
  const Shares words = english::word_shares();
  const Shares characters = zipf(kCharacters, 10, 2.2);
  // Nouns, punctuation, verbs, pronouns and so on, as often as they are used.
  const Shares tags{34'751, 23'596, 22'576, 18'677, 17'742, 16'299, 13'137, 12'815, 12'620,
                    10'167, 6687,   5748,   4126,   3819,   722,    695,    400};
  DataSet<TaggedSentence> set{.words = words.size(), .labels = tags.size(), .characters = characters.size()};
  set.instances.resize(static_cast<std::size_t>(generate.count > 0 ? generate.count : english::kSentences));
  Random random(generate.seed);
  for (TaggedSentence& sentence : set.instances) {
    const std::int32_t length = draw_count(random, english::kLengths);
    for (std::int32_t i = 0; i < length; ++i) {
      const std::int32_t word = words.draw(random);
      sentence.words.push_back(word);
      sentence.tags.push_back(tags.draw(random));
      sentence.characters.emplace_back();
      if (word >= english::kFrequentWords) sentence.characters.back() = spell(generate.seed, word, characters);
    }
  }
  return set;
}

}  // namespace espalier::bench
