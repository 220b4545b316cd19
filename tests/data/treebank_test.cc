/// Trees in brackets: what they become, and what is refused where.
#include "espalier/data/treebank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/data/read_all.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using ::testing::ElementsAre;

const TreebankOptions kSentiment{.labels = 5, .binary = true};

std::vector<LabelledTree> trees(const std::string& text) { return records_of<TreebankReader>(text); }

std::string shape(const LabelledTree& tree) {
  const std::vector<std::string_view> words(tree.words.begin(), tree.words.end());
  return tree.tree.to_string(words);
}

TEST(Treebank, ATreeHasItsWordsAndLabels) {
  const std::vector<LabelledTree> all = records_of<TreebankReader>("(3 (2 It) (4 (2 's) (3 good)))\n", kSentiment);
  ASSERT_EQ(all.size(), 1U);
  const LabelledTree& tree = all[0];
  EXPECT_THAT(tree.words, ElementsAre("It", "'s", "good"));
  EXPECT_THAT(tree.labels, ElementsAre("2", "2", "3", "4", "3"));  // in post order
  EXPECT_EQ(shape(tree), "( It ( 's good ) )");
  std::vector<std::int32_t> labels;
  for (std::int32_t node = 0; node < tree.tree.size(); ++node) labels.push_back(tree.tree.label(node));
  EXPECT_THAT(labels, ElementsAre(2, 2, 3, 4, 3));
}

TEST(Treebank, ReadsTreesOfAnyShapeOverSeveralLines) {
  const std::vector<LabelledTree> all =
      trees("( (S\n  (NP (DT The) (NN dog))\n  (VP (VBZ barks)) (. .) ))\n(NN\tmouse )");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(shape(all[0]), "( ( ( The dog ) ( barks ) . ) )");
  EXPECT_THAT(all[0].labels, ElementsAre("DT", "NN", "NP", "VBZ", "VP", ".", "S", ""));
  EXPECT_EQ(all[0].tree.label(0), kNone);
  EXPECT_EQ(shape(all[1]), "mouse");
}

TEST(Treebank, OnlySpacesTabsAndParenthesesSeparate) {
  const std::vector<LabelledTree> all = trees(
      "(2 (2 8\xC2\xA0"
      "1\\/2) (2 -LRB-))");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].words, ElementsAre("8\xC2\xA0"
                                        "1\\/2",
                                        "-LRB-"));
}

TEST(Treebank, MemoryOfARecordIsUsedAgain) {
  TreebankReader reader(Input::text("(1 (2 a) (3 b))\n(4 c)\n(1 (2 d) (3 (0 e) (1 f)))", "x"));
  LabelledTree tree;
  ASSERT_TRUE(reader.next(tree));
  ASSERT_TRUE(reader.next(tree));
  EXPECT_THAT(tree.words, ElementsAre("c"));
  EXPECT_THAT(tree.labels, ElementsAre("4"));
  ASSERT_TRUE(reader.next(tree));
  EXPECT_THAT(tree.words, ElementsAre("d", "e", "f"));
  EXPECT_FALSE(reader.next(tree));
  EXPECT_FALSE(reader.next(tree));
}

TEST(Treebank, SaysWhereATreeIsDamaged) {
  const auto refusal = [](const std::string& text) { return refusal_of_text<TreebankReader>(text); };
  EXPECT_EQ(refusal("(3 (2 It) (4 works)\n"), "x:1:20: expected ')' to close the node opened at 1:1");
  EXPECT_EQ(refusal("\n(3 (2 It)\n(4 works)\n"), "x:2:10: expected ')' to close the node opened at 2:1");
  EXPECT_EQ(refusal("3 It"), "x:1:1: expected '(' to begin a tree, not \"3\"");
  EXPECT_EQ(refusal("(3 It) )"), "x:1:8: expected the line to end after its tree");
  EXPECT_EQ(refusal("(3 It) (2 b)"), "x:1:8: expected the line to end after its tree");
  EXPECT_EQ(refusal("(3 )"), "x:1:4: expected a word or at least one child before ')'");
  EXPECT_EQ(refusal("()"), "x:1:2: expected a word or at least one child before ')'");
  EXPECT_EQ(refusal("(3 It works)"), "x:1:7: expected ')' after the word, not \"works\"");
  EXPECT_EQ(refusal("(3 It (2 a))"), "x:1:7: expected ')' after the word of a node, not '('");
  EXPECT_EQ(refusal("(3 (2 a) b)"), "x:1:10: expected ')' or '(', not \"b\"");
  EXPECT_EQ(refusal("(3 (2 a\xFF))"), "x:1:8: expected text in UTF-8, not \"\\xff))\"");
}

TEST(Treebank, SaysWhereALabelOrAShapeIsNotAsAsked) {
  const auto refusal = [](const std::string& text) { return refusal_of_text<TreebankReader>(text, kSentiment); };
  EXPECT_EQ(refusal("(5 It)"), "x:1:2: expected a label from 0 to 4 after '(', not \"5\"");
  EXPECT_EQ(refusal("( It)"), "x:1:2: expected a label from 0 to 4 after '(', not \"\"");
  EXPECT_EQ(refusal("(99999999999 It)"), "x:1:2: expected a label from 0 to 4 after '(', not \"99999999999\"");
  EXPECT_EQ(refusal("(3 (2 It))"), "x:1:10: expected a word or two children before ')'");
  EXPECT_EQ(refusal("(3 (2 a) (2 b) (2 c))"), "x:1:16: expected ')' after the two children of a node, not '('");
}

TEST(Treebank, SkipsDamagedTreesAndCountsThem) {
  const std::string text = "(1 a)\n(2 (1 b)\n(3 c)\nnot a tree\n(4 d))\n(0 (1 e)\n  (2 \xFF)\n  (2 f))\n(1 g)\n(2";
  EXPECT_EQ(skip_counts<TreebankReader>(text, TreebankOptions{}), "3/5");
  TreebankReader reader(Input::text(text, "x"), {}, {.skip_damaged = true});
  std::vector<std::string> words;
  for (LabelledTree tree; reader.next(tree);) words.insert(words.end(), tree.words.begin(), tree.words.end());
  EXPECT_THAT(words, ElementsAre("a", "c", "g"));
  EXPECT_THAT(reader.report().errors, ElementsAre("x:2:9: expected ')' to close the node opened at 2:1",
                                                  "x:4:1: expected '(' to begin a tree, not \"n\"",
                                                  "x:5:6: expected the line to end after its tree",
                                                  "x:7:6: expected text in UTF-8, not \"\\xff)\"",
                                                  "x:10:3: expected ')' to close the node opened at 10:1"));
  EXPECT_EQ(reader.report().summary().substr(0, 37), "3 records read, 5 damaged left out\n  ");
}

TEST(Treebank, ReportsTheFirstErrorsOnly) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "(\n";
  TreebankReader reader(Input::text(text, "x"), {}, {.skip_damaged = true});
  EXPECT_TRUE(reader.read_all().empty());
  EXPECT_EQ(reader.report().damaged, 25);
  EXPECT_EQ(reader.report().errors.size(), ReadReport::kMostErrors);
  EXPECT_THAT(reader.report().summary(), ::testing::EndsWith("\n  and 15 more"));
}

TEST(Treebank, AnEmptyFileHasNoTrees) {
  EXPECT_TRUE(trees("").empty());
  EXPECT_TRUE(trees("\n \n").empty());
}

TEST(Treebank, ATreeMayBeAsDeepAsItIsLarge) {
  constexpr int kDepth = 1'000'000;
  std::string text;
  for (int i = 0; i < kDepth; ++i) text += "(1 ";
  text += "a" + std::string(kDepth, ')');
  EXPECT_EQ(trees(text).at(0).tree.size(), kDepth);
  EXPECT_THAT(refusal_of_text<TreebankReader>(std::string(5'000'000, '(')),
              ::testing::HasSubstr("expected ')' to close the node opened at 1:5000000"));
}

class RealTreebank : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::data_folder();
    if (folder_.empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  }
  /// "trees tokens nodes" of a file of the sentiment treebank.
  std::string counts(const std::string& name) const {
    TreebankReader reader(folder_ / "sst" / name, kSentiment);
    std::size_t count = 0, tokens = 0, nodes = 0;
    for (LabelledTree tree; reader.next(tree); ++count) {
      tokens += tree.words.size();
      nodes += tree.labels.size();
    }
    return std::to_string(count) + " " + std::to_string(tokens) + " " + std::to_string(nodes);
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(RealTreebank, TheSentimentTreebankHasItsPublishedSize) {
  EXPECT_EQ(counts("train.txt"), "8544 163563 318582");
  EXPECT_EQ(counts("dev.txt"), "1101 21274 41447");
  EXPECT_EQ(counts("test.txt"), "2210 42405 82600");
}

}  // namespace
}  // namespace espalier::data
