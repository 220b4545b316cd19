/// Tagged sentences in columns, and the schemes of their tags.
#include "espalier/data/conll.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/data/tag_scheme.h"
#include "tests/data/read_all.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Tags = std::vector<std::string>;
using Spans = std::vector<TagSpan>;

constexpr TagScheme kSchemes[] = {TagScheme::kIob1, TagScheme::kBio, TagScheme::kBioes, TagScheme::kBmes};

TEST(TagScheme, WritesTheTagsOfSpans) {
  const Spans spans{{0, 1, "PER"}, {1, 3, "PER"}, {4, 7, "LOC"}, {7, 8, "ORG"}};
  EXPECT_EQ(tags_of(spans, 9, TagScheme::kIob1),
            (Tags{"I-PER", "B-PER", "I-PER", "O", "I-LOC", "I-LOC", "I-LOC", "I-ORG", "O"}));
  EXPECT_EQ(tags_of(spans, 9, TagScheme::kBio),
            (Tags{"B-PER", "B-PER", "I-PER", "O", "B-LOC", "I-LOC", "I-LOC", "B-ORG", "O"}));
  EXPECT_EQ(tags_of(spans, 9, TagScheme::kBioes),
            (Tags{"S-PER", "B-PER", "E-PER", "O", "B-LOC", "I-LOC", "E-LOC", "S-ORG", "O"}));
  EXPECT_EQ(tags_of(spans, 9, TagScheme::kBmes),
            (Tags{"S-PER", "B-PER", "E-PER", "O", "B-LOC", "M-LOC", "E-LOC", "S-ORG", "O"}));
  EXPECT_EQ(tags_of(Spans{{0, 2, ""}}, 2, TagScheme::kBio), (Tags{"B", "I"}));
}

TEST(TagScheme, AnySpansComeBackFromTheirTags) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    Spans spans;
    const auto words = static_cast<std::int32_t>(random.below(12));
    for (std::int32_t at = 0; at < words;) {
      const auto length = static_cast<std::int32_t>(1 + random.below(3));
      if (random.below(2) == 0 && at + length <= words)
        spans.push_back({at, at + length, random.below(2) == 0 ? "X" : "Y"});
      at += length;
    }
    for (const TagScheme scheme : kSchemes) {
      const Tags tags = tags_of(spans, words, scheme);
      ASSERT_EQ(spans_of(tags), spans) << name_of(scheme);
      ASSERT_FALSE(find_tag_error(tags, scheme).has_value()) << name_of(scheme);
    }
  }
}

// Worked out by hand with the rules of conlleval.pl.
TEST(TagScheme, ReadsDamagedSequencesAsTheScorerDoes) {
  EXPECT_EQ(spans_of(Tags{"O", "I-A", "I-B", "B-B", "O", "I-B"}),
            (Spans{{1, 2, "A"}, {2, 3, "B"}, {3, 4, "B"}, {5, 6, "B"}}));
  EXPECT_EQ(spans_of(Tags{"E-A", "M-A", "E-B", "S-B", "I-B"}),
            (Spans{{0, 1, "A"}, {1, 2, "A"}, {2, 3, "B"}, {3, 4, "B"}, {4, 5, "B"}}));
  EXPECT_EQ(spans_of(Tags{"B-A", "S-A", "B-A", "I-A"}), (Spans{{0, 1, "A"}, {1, 2, "A"}, {2, 4, "A"}}));
  EXPECT_THAT(spans_of(Tags{}), IsEmpty());
}

std::string tag_refusal(const Tags& tags, TagScheme scheme) {
  const std::optional<TagError> error = find_tag_error(tags, scheme);
  return error ? std::to_string(error->word) + ": " + error->message : "";
}

TEST(TagScheme, StrictSchemesSayWhatIsWrong) {
  EXPECT_EQ(tag_refusal({"O", "B-A"}, TagScheme::kIob1),
            "1: expected I-A to begin a span that follows none of its type, not B-A");
  EXPECT_EQ(tag_refusal({"I-B", "B-A"}, TagScheme::kIob1),
            "1: expected I-A to begin a span that follows none of its type, not B-A");
  EXPECT_EQ(tag_refusal({"I-A", "B-A", "I-A", "I-B"}, TagScheme::kIob1), "");
  EXPECT_EQ(tag_refusal({"O", "I-A"}, TagScheme::kBio), "1: expected I-A only inside a span of its type, not after O");
  EXPECT_EQ(tag_refusal({"B-B", "I-A"}, TagScheme::kBio),
            "1: expected I-A only inside a span of its type, not after B-B");
  EXPECT_EQ(tag_refusal({"B-A", "O"}, TagScheme::kBioes), "1: expected E-A to end the span, not O");
  EXPECT_EQ(tag_refusal({"B-A", "M-A"}, TagScheme::kBmes),
            "1: expected E-A to end the span at the end of the sentence, not \"M-A\"");
  EXPECT_EQ(tag_refusal({"S-A", "E-A"}, TagScheme::kBmes),
            "1: expected E-A only inside a span of its type, not after S-A");
  EXPECT_EQ(tag_refusal({"S-A"}, TagScheme::kBio),
            "0: expected a tag of the scheme BIO such as \"B-PER\" or \"O\", not \"S-A\"");
  EXPECT_EQ(tag_refusal({""}, TagScheme::kBio),
            "0: expected a tag of the scheme BIO such as \"B-PER\" or \"O\", not \"\"");
}

TEST(TagScheme, RefusesWhatIsNoTagAndNoSpans) {
  EXPECT_EQ(refusal_of([] {
              spans_of(Tags{"O", "NOUN"});
            }),
            "tag 2: expected O, or B, I, M, E or S and a type as in \"B-PER\", not \"NOUN\"");
  EXPECT_EQ(refusal_of([] { spans_of(Tags{"O-PER"}); }),
            "tag 1: expected O, or B, I, M, E or S and a type as in \"B-PER\", not \"O-PER\"");
  for (const Spans& spans : {Spans{{2, 2, "A"}}, Spans{{0, 2, "A"}, {1, 3, "A"}}, Spans{{0, 5, "A"}}})
    EXPECT_THROW(tags_of(spans, 4, TagScheme::kBio), UsageError);
}

TEST(Conll, ASentenceHasWordsAndTags) {
  const auto all = records_of<ConllReader>("-DOCSTART- -X- O O\n\nEU NNP B-ORG\nrejects VBZ O\n\n \n# NN  O\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].words, ElementsAre("EU", "rejects"));
  EXPECT_THAT(all[0].tags, ElementsAre("B-ORG", "O"));
  EXPECT_THAT(all[1].words, ElementsAre("#"));
}

TEST(Conll, ColumnsSeparatorAndCommentsAreChosen) {
  const ConllOptions options{.separator = '\t', .comment = "#", .word_column = 1, .tag_column = 0};
  const auto all = records_of<ConllReader>(
      "# a comment\nO\ta b\tx\nO\t8\xC2\xA0"
      "1/2\tx\n",
      options);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].words, ElementsAre("a b",
                                        "8\xC2\xA0"
                                        "1/2"));
  EXPECT_THAT(all[0].tags, ElementsAre("O", "O"));
}

TEST(Conll, PlacesInWordsAreDropped) {
  const auto all = records_of<ConllReader>("科0\tO\n710\tO\n", ConllOptions{.drop_places = true});
  EXPECT_THAT(all.at(0).words, ElementsAre("科", "7"));
  EXPECT_EQ(refusal_of_text<ConllReader>("科x\tO\n", ConllOptions{.drop_places = true}),
            "x:1:1: expected a character and its place in digits, not \"\\xe7\\xa7\\x91x\"");
}

TEST(Conll, SaysWhereALineIsDamaged) {
  const ConllOptions tabs{.separator = '\t'};
  EXPECT_EQ(refusal_of_text<ConllReader>("a O\nb\n"), "x:2:2: expected a word and a tag in columns, not 1 column");
  EXPECT_EQ(refusal_of_text<ConllReader>("a O\nb x O\n"), "x:2:1: expected 2 columns as in the lines before, not 3");
  EXPECT_EQ(refusal_of_text<ConllReader>("a\t\n", tabs), "x:1:3: expected a tag, not an empty column");
  EXPECT_EQ(refusal_of_text<ConllReader>("a\tO\n\tO\n", tabs), "x:2:1: expected a word, not an empty column");
  EXPECT_EQ(refusal_of_text<ConllReader>("a O\n\xFF O\n"), "x:2:1: expected text in UTF-8, not \"\\xff O\"");
  EXPECT_EQ(refusal_of_text<ConllReader>("a B-X\nb I-Y\n", ConllOptions{.scheme = TagScheme::kBio}),
            "x:2:3: expected I-Y only inside a span of its type, not after B-X");
}

TEST(Conll, SkipsDamagedSentencesAndCountsThem) {
  EXPECT_EQ(skip_counts<ConllReader>("a O\nb\nc O\n\nd O\n", ConllOptions{}), "1/1");
  EXPECT_EQ(skip_counts<ConllReader>("a O\n\n\xFF O\nb O\n\nc O", ConllOptions{}), "2/1");
  EXPECT_EQ(skip_counts<ConllReader>("a B-X\n\nb I-Y\n\nc O\n", ConllOptions{.scheme = TagScheme::kBio}), "2/1");
  EXPECT_EQ(skip_counts<ConllReader>("", ConllOptions{}), "0/0");
}

class RealConll : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  }
  /// "sentences words entities" of a file.
  static std::string counts(const std::string& name, const ConllOptions& options) {
    ConllReader reader(testing::data_folder() / name, options);
    std::size_t sentences = 0, words = 0, entities = 0;
    for (TaggedSentence sentence; reader.next(sentence); ++sentences) {
      words += sentence.words.size();
      entities += spans_of(sentence.tags).size();
    }
    return std::to_string(sentences) + " " + std::to_string(words) + " " + std::to_string(entities);
  }
};

TEST_F(RealConll, EnglishEntitiesHaveTheirPublishedCounts) {
  const ConllOptions tabs{.separator = '\t', .scheme = TagScheme::kBio};
  EXPECT_EQ(counts("ner_en/wnut17_train.conll", tabs), "3394 62730 1975");
  EXPECT_EQ(counts("ner_en/wnut17_dev.conll", tabs), "1009 15733 836");
  EXPECT_EQ(counts("ner_en/wnut17_test.conll", tabs), "1287 23394 1079");
  EXPECT_EQ(counts("ner_en/wikigold.conll", {.scheme = TagScheme::kIob1}).substr(0, 10), "1696 39007");
}

TEST_F(RealConll, ChineseEntitiesHaveTheirPublishedCounts) {
  // The published 13,438, and the ends of two that a sentence break divides.
  EXPECT_EQ(counts("ner_zh/resume_train.char.bmes", {}), "3821 124099 13440");
  EXPECT_EQ(counts("ner_zh/resume_dev.char.bmes", {}), "463 13890 1497");
  EXPECT_EQ(counts("ner_zh/resume_test.char.bmes", {}), "477 15100 1630");
  // The published 1,885 and 414 count tags with a B; 10 and 4 more spans begin with an I.
  const ConllOptions weibo{.separator = '\t', .drop_places = true};
  EXPECT_EQ(counts("ner_zh/weibo_2nd_train.conll", weibo), "1350 73778 1895");
  EXPECT_EQ(counts("ner_zh/weibo_2nd_dev.conll", weibo), "270 14509 389");
  EXPECT_EQ(counts("ner_zh/weibo_2nd_test.conll", weibo), "270 14842 418");
}

TEST_F(RealConll, TheStrictReadingFindsTheDamagedTagsOfTheResumes) {
  ConllReader reader(testing::data_folder() / "ner_zh/resume_train.char.bmes", {.scheme = TagScheme::kBmes},
                     {.skip_damaged = true});
  EXPECT_EQ(reader.read_all().size(), 3817U);
  const std::string end = "expected E-ORG to end the span at the end of the sentence, not \"M-ORG\"";
  const std::string begin = "expected M-ORG only inside a span of its type, not after O";
  using ::testing::EndsWith;
  EXPECT_THAT(reader.report().errors, ElementsAre(EndsWith(":62390:5: " + end), EndsWith(":62392:5: " + begin),
                                                  EndsWith(":64412:5: " + end), EndsWith(":64414:5: " + begin)));
}

}  // namespace
}  // namespace espalier::data
