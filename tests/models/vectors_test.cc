/// Words with numbers, and word vectors of a file as their initial embeddings.
#include "espalier/models/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/models/model_files.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Words, AreNumberedFromTheMostFrequent) {
  WordCounts counts;
  for (const char* word : {"rare", "b", "a", "a", "b", "c", "c", "c"}) count_word(counts, word);
  const Words words(counts, 2);
  EXPECT_THAT(words.list(), ElementsAre("c", "b", "a"));
  EXPECT_EQ(words.size(), 4);
  EXPECT_EQ(words.number("c"), 1);
  EXPECT_EQ(words.number("rare"), 0);
  EXPECT_EQ(words.to_value().to_text(), R"(["c","b","a"])");
  EXPECT_EQ(Words::from_value(words.to_value()).number("a"), 3);
  EXPECT_EQ(Words().size(), 1);
  EXPECT_THAT(refusal_of<UsageError>([] { Words::from_value(Value::list({"a", "a"})); }), HasSubstr("there twice"));
}

using VectorFiles = testing::ModelFiles;

TEST_F(VectorFiles, GiveVectorsToWordsAsTheyAreOrInLowerCase) {
  VectorSettings vectors{.path = write("vectors.txt", "4 2\nthe 1 2\ncat 3 4\nCat 5 6\nemu 7 8\n").string()};
  const Words words = vectors.with_words_of_file(Words({"The", "Cat", "zebra", "cat"}));
  EXPECT_THAT(words.list(), ElementsAre("The", "Cat", "zebra", "cat", "the", "emu"));
  const std::optional<Tensor> table = vectors.table(words, 2);
  ASSERT_TRUE(table.has_value());
  const auto row_of = [&](const std::string& word) {
    const std::int64_t begin = std::int64_t{2} * words.number(word);
    return std::vector<double>{table->at(begin), table->at(begin + 1)};
  };
  EXPECT_THAT(row_of("The"), ElementsAre(1, 2));
  EXPECT_THAT(row_of("Cat"), ElementsAre(5, 6));
  EXPECT_THAT(row_of("cat"), ElementsAre(3, 4));
  EXPECT_THAT(row_of("emu"), ElementsAre(7, 8));
  EXPECT_NE(row_of("zebra"), (std::vector<double>{0, 0}));
  EXPECT_THAT(refusal_of<UsageError>([&] { vectors.table(words, 3); }),
              HasSubstr("vectors have 2 numbers, and the setting \"embedding\" is 3"));
  vectors.path.clear();
  EXPECT_FALSE(vectors.table(words, 2).has_value());
  EXPECT_EQ(vectors.with_words_of_file(words).size(), words.size());
}

TEST_F(VectorFiles, RefuseWhatIsNoNumber) {
  const VectorSettings vectors{.path = write("vectors.txt", "a 1 2\nb 3 x\n").string()};
  EXPECT_THAT(refusal_of<DataError>([&] { vectors.with_words_of_file(Words()); }),
              HasSubstr("vectors.txt:2:5: expected a number, not"));
}

}  // namespace
}  // namespace espalier::models
