/// CoNLL-U: sentences, multi-word tokens, empty nodes, damaged files.
#include "espalier/data/conllu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/dependency.h"
#include "tests/data/read_all.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string word_line(const std::string& id, const std::string& head) {
  return id + "\tword" + id + "\t_\tNOUN\t_\t_\t" + head + "\tdep\t_\t_\n";
}

std::string conllu_refusal(const std::string& text, const ConlluOptions& options = {}) {
  return refusal_of_text<ConlluReader>(text, options);
}

TEST(Conllu, ASentenceHasWordsTokensAndEmptyNodes) {
  const std::vector<ConlluSentence> all = records_of<ConlluReader>(
      "# sent_id = s-1\n# text = I can't (go).\n#no key\n"
      "1\tI\tI\tPRON\tPRP\tCase=Nom\t3\tnsubj\t_\t_\n"
      "2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
      "2\tca\tcan\tAUX\tMD\t_\t3\taux\t_\t_\n"
      "3\tn't\tnot\tPART\tRB\t_\t0\troot\t_\t_\n"
      "3.1\tgo\tgo\tVERB\t_\t_\t_\t_\t0:root\t_\n"
      "3.2\tup\tup\tADP\t_\t_\t_\t_\t3.1:x\t_\n"
      "\n\n# sent_id = s-2\n1\tYes no\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n");
  ASSERT_EQ(all.size(), 2U);
  const ConlluSentence& sentence = all[0];
  EXPECT_THAT(sentence.comments, ElementsAre("sent_id = s-1", "text = I can't (go).", "no key"));
  EXPECT_EQ(sentence.metadata("sent_id"), "s-1");
  EXPECT_EQ(sentence.metadata("text"), "I can't (go).");
  EXPECT_EQ(sentence.metadata("sent"), std::nullopt);
  EXPECT_EQ(sentence.metadata("no key"), std::nullopt);
  ASSERT_EQ(sentence.words.size(), 3U);
  EXPECT_EQ(sentence.words[0], (ConlluWord{.form = "I",
                                           .lemma = "I",
                                           .upos = "PRON",
                                           .xpos = "PRP",
                                           .feats = "Case=Nom",
                                           .head = 3,
                                           .deprel = "nsubj",
                                           .deps = "_",
                                           .misc = "_"}));
  EXPECT_THAT(sentence.heads(), ElementsAre(3, 3, 0));
  ASSERT_EQ(sentence.tokens.size(), 1U);
  EXPECT_EQ(sentence.tokens[0], (ConlluToken{.first = 2, .last = 3, .form = "can't", .misc = "SpaceAfter=No"}));
  ASSERT_EQ(sentence.empty_nodes.size(), 2U);
  EXPECT_EQ(sentence.empty_nodes[1].after, 3);
  EXPECT_EQ(sentence.empty_nodes[1].number, 2);
  EXPECT_EQ(sentence.empty_nodes[1].word.form, "up");
  EXPECT_EQ(sentence.empty_nodes[1].word.head, kNone);
  EXPECT_EQ(all[1].words[0].form, "Yes no");
}

TEST(Conllu, SaysWhereALineIsDamaged) {
  EXPECT_EQ(conllu_refusal("1\tword\n"), "x:1:7: expected ten columns with tabs between them, not 2");
  EXPECT_EQ(conllu_refusal("1\ta\tb\tc\td\te\t0\tf\tg\th\ti\n"),
            "x:1:20: expected ten columns with tabs between them, not an eleventh");
  EXPECT_EQ(conllu_refusal("1\ta\t\tc\td\te\t0\tf\tg\th\n"), "x:1:5: expected text or \"_\" in the column LEMMA");
  EXPECT_EQ(conllu_refusal(word_line("1", "0") + word_line("3", "1")),
            "x:2:1: expected the id 2, 2-N or 1.1, not \"3\"");
  EXPECT_EQ(conllu_refusal(word_line("x", "0")), "x:1:1: expected the id 1, 1-N or 0.1, not \"x\"");
  EXPECT_EQ(conllu_refusal(word_line("1", "x")), "x:1:20: expected the number of a word, 0 or \"_\", not \"x\"");
  EXPECT_EQ(conllu_refusal(word_line("1", "-1")), "x:1:20: expected the number of a word, 0 or \"_\", not \"-1\"");
  EXPECT_EQ(conllu_refusal("# text = a\xFF\n"), "x:1:11: expected text in UTF-8, not \"\\xff\"");
  EXPECT_EQ(conllu_refusal("# only a comment\n" + word_line("0.1", "_") + "\n"),
            "x:3:1: expected at least one word in the sentence before");
}

TEST(Conllu, SaysWhereTokensAndEmptyNodesAreDamaged) {
  const std::string one = word_line("1", "0");
  EXPECT_EQ(conllu_refusal(one + word_line("1-2", "_")),
            "x:2:1: expected a range of words that begins with the next word, 2, not \"1-2\"");
  EXPECT_EQ(conllu_refusal(one + word_line("2-2", "_")),
            "x:2:1: expected a range of words that begins with the next word, 2, not \"2-2\"");
  EXPECT_EQ(conllu_refusal(word_line("1-2", "_") + one + word_line("2-3", "_")),
            "x:3:1: expected a range that does not overlap the one up to 2, not \"2-3\"");
  EXPECT_EQ(conllu_refusal(one + word_line("2-3", "_") + word_line("2", "1")),
            "x:2:1: expected a range of words up to 2, the last, not 2-3");
  EXPECT_EQ(conllu_refusal(word_line("1-x", "_")), "x:1:1: expected a range of words such as \"3-4\", not \"1-x\"");
  EXPECT_EQ(conllu_refusal(one + word_line("1.2", "_")), "x:2:1: expected the id 1.1 of an empty node, not \"1.2\"");
  EXPECT_EQ(conllu_refusal(one + word_line("1.", "_")),
            "x:2:1: expected the id of an empty node such as \"8.1\", not \"1.\"");
}

TEST(Conllu, SaysWhereHeadsAreNoTree) {
  EXPECT_EQ(conllu_refusal(word_line("1", "2") + word_line("2", "3") + word_line("3", "2") + "\n"),
            "x:3:20: expected heads without a cycle, but word 3 is its own ancestor");
  EXPECT_EQ(conllu_refusal(word_line("1", "0") + word_line("2", "2")),
            "x:2:20: expected heads without a cycle, but word 2 is its own ancestor");
  EXPECT_EQ(conllu_refusal(word_line("1", "7") + "\n"), "x:1:20: expected a head from 0 to 1, not 7");
  EXPECT_EQ(conllu_refusal(word_line("1", "0") + word_line("2", "0") + "\n"),
            "x:2:20: expected one root, but word 1 is one and word 2 another");
  EXPECT_EQ(conllu_refusal(word_line("1", "_")), "x:1:20: expected the number of a word or 0, not \"_\"");
}

TEST(Conllu, HeadsNeedNotBeATreeIfNotAsked) {
  const std::string text = word_line("1", "_") + word_line("2", "2") + word_line("3", "0") + word_line("4", "0");
  EXPECT_THAT(records_of<ConlluReader>(text, ConlluOptions{.require_tree = false}).at(0).heads(),
              ElementsAre(kNone, 2, 0, 0));
  EXPECT_EQ(conllu_refusal(word_line("1", "7"), {.require_tree = false}), "x:1:20: expected a head from 0 to 1, not 7");
}

TEST(Conllu, SkipsDamagedSentencesAndCountsThem) {
  const std::string good = word_line("1", "0") + "\n";
  EXPECT_EQ(skip_counts<ConlluReader>(good + word_line("1", "2") + "\n" + good, ConlluOptions{}),
            "2/1");  // found at its end
  EXPECT_EQ(skip_counts<ConlluReader>(good + "1\tword\n" + good + good, ConlluOptions{}),
            "2/1");  // swallows its sentence
  EXPECT_EQ(skip_counts<ConlluReader>(good + "\xFF\n" + word_line("1", "0") + "\n" + good, ConlluOptions{}), "2/1");
  EXPECT_EQ(skip_counts<ConlluReader>(good + word_line("1", "2"), ConlluOptions{}), "1/1");
}

TEST(Conllu, AnEmptyFileHasNoSentences) {
  EXPECT_THAT(records_of<ConlluReader>(""), IsEmpty());
  EXPECT_THAT(records_of<ConlluReader>("\n# a comment\n\n"), IsEmpty());
}

TEST(Dependency, TheTreeHasDependentsInOrder) {
  const std::vector<std::int32_t> heads{2, 0, 2, 5, 3};  // the second of five words is the root
  const Tree tree = dependency_tree(heads);
  const std::vector<std::string_view> words{"a", "b", "c", "d", "e"};
  EXPECT_EQ(tree.to_string(words), "( b a ( c ( e d ) ) )");
  EXPECT_EQ(dependency_tree({}).size(), 0);
}

TEST(Dependency, ALongChainNeedsNoStack) {
  std::vector<std::int32_t> heads(1'000'000);
  for (std::size_t w = 0; w < heads.size(); ++w) heads[w] = static_cast<std::int32_t>(w);
  EXPECT_EQ(find_head_error(heads), std::nullopt);
  EXPECT_EQ(dependency_tree(heads).size(), 1'000'000);
  heads[0] = 1'000'000;
  EXPECT_NE(find_head_error(heads), std::nullopt);
  EXPECT_THROW(dependency_tree(heads), UsageError);
}

class RealConllu : public ::testing::Test {
 protected:
  /// "sentences words tokens empty-nodes" of a file of the English Web Treebank.
  static std::string counts(const std::string& name) {
    ConlluReader reader(testing::data_folder() / "ud_english_ewt" / name);
    std::size_t sentences = 0, words = 0, tokens = 0, empty_nodes = 0;
    for (ConlluSentence sentence; reader.next(sentence); ++sentences) {
      words += sentence.words.size();
      tokens += sentence.tokens.size();
      empty_nodes += sentence.empty_nodes.size();
    }
    return std::to_string(sentences) + " " + std::to_string(words) + " " + std::to_string(tokens) + " " +
           std::to_string(empty_nodes);
  }
};

TEST_F(RealConllu, TheEnglishWebTreebankHasItsPublishedSize) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  EXPECT_EQ(counts("en_ewt-ud-train.conllu.gz"), "12544 204577 2614 37");
  EXPECT_EQ(counts("en_ewt-ud-dev.conllu"), "2001 25147 359 4");
  EXPECT_EQ(counts("en_ewt-ud-test.conllu"), "2077 25094 354 2");
}

}  // namespace
}  // namespace espalier::data
