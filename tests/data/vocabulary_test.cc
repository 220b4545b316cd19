/// Vocabularies, word vectors and lattices.
#include "espalier/data/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/lattice.h"
#include "espalier/data/word_vectors.h"
#include "tests/data/read_all.h"
#include "tests/data/temporary_file.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using WordOrder = VocabularyOptions::Order;

WordCounts counts_of(const std::vector<std::string>& words) {
  WordCounts counts;
  for (const std::string& word : words) counts.add(word);
  return counts;
}

std::vector<std::string> shown(const Vocabulary& words) {
  std::vector<std::string> result;
  for (const Vocabulary::Entry& entry : words.entries())
    result.push_back(entry.word + " " + std::to_string(entry.count));
  return result;
}

const std::vector<std::string> kText{"b", "a", "c", "a", "d", "c", "a"};

TEST(Vocabulary, ListsTheMostFrequentFirstAndTiesAsTheyCame) {
  EXPECT_THAT(shown(counts_of(kText).vocabulary()), ElementsAre("<unk> 0", "a 3", "c 2", "b 1", "d 1"));
  EXPECT_THAT(shown(counts_of(kText).vocabulary({.unknown = "", .order = WordOrder::kByFirst})),
              ElementsAre("b 1", "a 3", "c 2", "d 1"));
}

TEST(Vocabulary, RareWordsCountAsUnknown) {
  const Vocabulary words = counts_of(kText).vocabulary({.min_count = 2, .padding = "<pad>"});
  EXPECT_THAT(shown(words), ElementsAre("<pad> 0", "<unk> 2", "a 3", "c 2"));
  EXPECT_EQ(words.padding(), 0);
  EXPECT_EQ(words.unknown(), 1);
  EXPECT_EQ(words.id("c"), 3);
  EXPECT_EQ(words.id("b"), 1);
  EXPECT_EQ(words.find("b"), std::nullopt);
  EXPECT_TRUE(words.contains("<unk>"));
  EXPECT_EQ(words.word(2), "a");
  EXPECT_EQ(words.count(2), 3);
  EXPECT_THAT(shown(counts_of(kText).vocabulary({.most = 1})), ElementsAre("<unk> 4", "a 3"));
}

TEST(Vocabulary, AWordSpelledAsASpecialEntryIsThatEntry) {
  const Vocabulary words = counts_of({"<unk>", "a", "<pad>", "<unk>"}).vocabulary({.padding = "<pad>"});
  EXPECT_THAT(shown(words), ElementsAre("<pad> 1", "<unk> 2", "a 1"));
}

TEST(Vocabulary, RefusesWhatIsNotThere) {
  const Vocabulary words = counts_of({"a"}).vocabulary({.unknown = ""});
  EXPECT_EQ(refusal_of<UsageError>([&] { words.id("b"); }),
            "vocabulary: \"b\" is not there, and there is no entry for unknown words");
  EXPECT_EQ(refusal_of<UsageError>([&] { words.word(1); }), "vocabulary: there is no word 1 among 1 words");
  EXPECT_EQ(refusal_of<UsageError>([&] {
              Vocabulary({{"a", 1}, {"a", 2}});
            }),
            "vocabulary: the word \"a\" is there twice");
  EXPECT_EQ(refusal_of<UsageError>([&] { Vocabulary({{"a", 1}}, 1); }), "vocabulary: there is no word 1 among 1 words");
}

TEST(Vocabulary, ComesBackFromItsFile) {
  const Vocabulary words = counts_of({"\n", "\t\"x\"", "数", " ", "", "a"}).vocabulary({.padding = "<pad>"});
  EXPECT_EQ(Vocabulary::load(Input::text(words.to_text(), "x")), words);
  const TemporaryFile file("words.gz", "");
  words.save(file.path());
  EXPECT_EQ(Vocabulary::load(file.path()), words);
  EXPECT_EQ(Vocabulary::load(Input::text(Vocabulary().to_text(), "x")), Vocabulary());
  EXPECT_EQ(counts_of({"a"}).vocabulary({.unknown = ""}).to_text(),
            "{\"espalier vocabulary\":1,\"entries\":1,\"unknown\":null,\"padding\":null}\n[\"a\",1]\n");
  EXPECT_THROW(counts_of({"\xFF"}).vocabulary().to_text(), UsageError);
}

TEST(Vocabulary, SaysWhereAFileIsDamaged) {
  const auto refusal = [](const std::string& text) {
    return refusal_of<DataError>([&] { Vocabulary::load(Input::text(text, "x")); });
  };
  const std::string head = "{\"espalier vocabulary\":1,\"entries\":2,\"unknown\":0,\"padding\":null}\n";
  const std::string header = "x:1:1: expected the header of a vocabulary, {\"espalier vocabulary\":1,...}";
  EXPECT_EQ(refusal(""), "x:1:1: expected the header of a vocabulary, not the end");
  EXPECT_EQ(refusal("[]\n"), header);
  EXPECT_EQ(refusal("{\"espalier vocabulary\":2}"), header);
  EXPECT_EQ(refusal("{\"espalier vocabulary\":1,\"entries\":1,\"unknown\":1,\"padding\":null}"),
            "x:1:1: expected a number from 0 to 0 for \"unknown\" in the header of the vocabulary");
  EXPECT_EQ(refusal("{\"espalier vocab"),
            "x:1:17: expected '\"' to end the string that begins at 1:2, not the end of the text");
  EXPECT_EQ(refusal(head + "[\"a\",1]\n"), "x:3:1: expected 2 entries, as the header says, not 1");
  EXPECT_EQ(refusal(head + "[\"a\",1]\n[\"a\",1]\n"),
            "x:3:1: expected a word that is not there yet, but \"a\" is in line 2");
  EXPECT_EQ(refusal(head + "[\"a\",1]\n[\"b\",1]\n[\"c\",1]\n"),
            "x:4:1: expected the end after 2 entries, as the header says");
  EXPECT_EQ(refusal(head + "[\"a\",-1]\n"), "x:2:1: expected an entry [\"word\",count], not \"[\"a\",-1]\"");
  EXPECT_EQ(refusal(head + "[\"a\",1\n"), "x:2:1: expected an entry [\"word\",count], not \"[\"a\",1\"");
}

TEST(WordVectors, ReadsGloveAndWord2vec) {
  const std::vector<WordVector> expected{{"the", {0.5F, -1}}, {". .", {2, 1e-3F}}};
  EXPECT_EQ(records_of<WordVectorReader>("the 0.5 -1\n. . 2 1e-3\n"), expected);
  EXPECT_EQ(records_of<WordVectorReader>("2 2\nthe 0.5 -1 \n. . +2 1e-3\n"), expected);
  const WordVectorOptions none{.header = WordVectorOptions::Header::kAbsent};
  EXPECT_EQ(records_of<WordVectorReader>("7 2\n", none), (std::vector<WordVector>{{"7", {2}}}));
}

TEST(WordVectors, SaysWhereAFileIsDamaged) {
  const auto refusal = [](const std::string& text, const WordVectorOptions& options = {}) {
    return refusal_of_text<WordVectorReader>(text, options);
  };
  EXPECT_EQ(refusal("the 1 2\nof 1\n"), "x:2:5: expected a word and 2 numbers, not 2 fields");
  EXPECT_EQ(refusal("the 1 2\nof 1 2 3\n"), "x:2:4: expected a word and 2 numbers, not 4 fields");
  EXPECT_EQ(refusal("the 1 2\nof 1 2\n", {.dimension = 3}), "x:1:8: expected a word and 3 numbers, not 3 fields");
  EXPECT_EQ(refusal("1 3\nthe 1 2\n"), "x:2:8: expected a word and 3 numbers, not 3 fields");
  EXPECT_EQ(refusal("1 3\nthe 1 2 3\n", {.dimension = 2}), "x:1:3: expected vectors of dimension 2, not 3");
  EXPECT_EQ(refusal("the 1 x\n"), "x:1:7: expected a number, not \"x\"");
  EXPECT_EQ(refusal("the 1 nan\n"), "x:1:7: expected a number, not \"nan\"");
  EXPECT_EQ(refusal("the\n"), "x:1:4: expected a word and at least one number");
  EXPECT_EQ(refusal("3 2\nthe 1 2\n"), "x:3:1: expected 3 vectors, as the first line says, not 1");
  EXPECT_EQ(refusal("the 1\n", {.header = WordVectorOptions::Header::kPresent}),
            "x:1:1: expected the number of words and their dimension, not \"the 1\"");
  EXPECT_EQ(skip_counts<WordVectorReader>("4 2\na 1 2\nb 1\n\xFF\nc 1 2\n", WordVectorOptions{}), "2/3");
}

TEST(WordVectors, ATableHasTheVectorsOfAVocabulary) {
  const Vocabulary words = counts_of({"a", "b", "c"}).vocabulary({.order = WordOrder::kByFirst});
  const WordVectorTable table = read_word_vectors(Input::text("c 1 2\nother x y\na 3 4\nc 5 6\n", "x"), words);
  EXPECT_EQ(table.dimension, 2);
  EXPECT_THAT(table.values, ElementsAre(0, 0, 3, 4, 0, 0, 1, 2));
  EXPECT_THAT(table.found, ElementsAre(false, true, false, true));
  EXPECT_EQ(table.found_count, 2);
  EXPECT_EQ(read_word_vectors(Input::text("other 1 2\n", "x"), words).values, std::vector<float>(8, 0.0F));
  EXPECT_EQ(refusal_of<DataError>([&] { read_word_vectors(Input::text("", "x"), words); }),
            "x: expected at least one vector");
}

TEST(RealWordVectors, TheFileHasItsDimension) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const Vocabulary words = counts_of({"the", "funny", "xyzzyx"}).vocabulary();
  const WordVectorTable table = read_word_vectors(testing::data_folder() / "vectors/minilm_words.300.txt.gz", words);
  EXPECT_EQ(table.dimension, 300);
  EXPECT_EQ(table.found_count, 2);
}

TEST(Lattice, HasAllWordsOfTheLexiconByTheirEnd) {
  LexiconReader reader(Input::text("南京 3 ns\n南京市 2 ns\n市长 5\n长江\n京 9 x\n\n长江大桥 1 n\n", "x"));
  const Lexicon lexicon(reader);
  EXPECT_EQ(lexicon.size(), 5);
  EXPECT_EQ(lexicon.word(4), "长江大桥");
  const Lattice lattice = lattice_of("南京市长江大桥", lexicon);
  EXPECT_THAT(lattice.characters, ElementsAre("南", "京", "市", "长", "江", "大", "桥"));
  EXPECT_THAT(lattice.words, ElementsAre(LatticeWord{0, 2, 0}, LatticeWord{0, 3, 1}, LatticeWord{2, 4, 2},
                                         LatticeWord{3, 5, 3}, LatticeWord{3, 7, 4}));
  EXPECT_THAT(lattice_of("", lexicon).words, IsEmpty());
}

TEST(Lattice, WordsThatEndTogetherComeShorterFirst) {
  Lexicon lexicon;
  for (const char* word : {"abc", "c", "bc", "abc"}) lexicon.add(word);
  EXPECT_EQ(lexicon.size(), 3);
  EXPECT_THAT(lattice_of("abc", lexicon).words,
              ElementsAre(LatticeWord{2, 3, 1}, LatticeWord{1, 3, 2}, LatticeWord{0, 3, 0}));
  EXPECT_THROW(lexicon.add(""), UsageError);
}

TEST(Lattice, SaysWhereALexiconIsDamaged) {
  EXPECT_EQ(refusal_of_text<LexiconReader>("a 1 n\n 2 n\n"), "x:2:1: expected a word at the beginning of the line");
  EXPECT_EQ(refusal_of_text<LexiconReader>("a n\n"), "x:1:3: expected a frequency after the word, not \"n\"");
  EXPECT_EQ(refusal_of_text<LexiconReader>("a -1\n"), "x:1:3: expected a frequency after the word, not \"-1\"");
  LexiconReader reader(Input::text("a n\nb 1 n\n\xFF\nc\n", "x"), {.skip_damaged = true});
  EXPECT_EQ(Lexicon(reader, 1).size(), 2);
  EXPECT_EQ(reader.report().damaged, 2);
}

TEST(RealLattice, TheLexiconHasItsPublishedSize) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  LexiconReader reader(testing::data_folder() / "ner_zh/jieba_dict_small.txt");
  EXPECT_EQ(Lexicon(reader).size(), 101'049);
  EXPECT_EQ(reader.report().records, 109'750);
}

}  // namespace
}  // namespace espalier::data
