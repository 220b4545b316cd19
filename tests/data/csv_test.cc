/// Tables in text, and the pairs of SICK that are one.
#include "espalier/data/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/sick.h"
#include "tests/data/read_all.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Csv, RowsHaveTheFieldsOfTheHeader) {
  CsvReader reader(Input::text("name,value\na,1\n\n\"b, c\",\"say \"\"x\"\"\"\n,\n5\" pipe,2\r\n", "x"));
  EXPECT_THAT(reader.names(), ElementsAre("name", "value"));
  EXPECT_EQ(reader.column("value"), 1U);
  EXPECT_THAT(reader.read_all(),
              ElementsAre(CsvRow{"a", "1"}, CsvRow{"b, c", "say \"x\""}, CsvRow{"", ""}, CsvRow{"5\" pipe", "2"}));
  EXPECT_EQ(refusal_of<UsageError>([&] { reader.column("price"); }),
            "x has no column \"price\"; it has \"name\", \"value\"");
}

TEST(Csv, QuotedFieldsGoOverLines) {
  const auto rows = records_of<CsvReader>("a,b\n\"1\n\n2\",3\n\"\",\"4\"");
  EXPECT_THAT(rows, ElementsAre(CsvRow{"1\n\n2", "3"}, CsvRow{"", "4"}));
}

TEST(Csv, TsvHasTabsAndNoQuotes) {
  EXPECT_THAT(records_of<CsvReader>("a\tb\n\"1\t2,3\n", tsv_options()), ElementsAre(CsvRow{"\"1", "2,3"}));
}

TEST(Csv, NamesMayBeGiven) {
  EXPECT_THAT(records_of<CsvReader>("1;2\n", CsvOptions{.separator = ';', .names = {"a", "b"}}),
              ElementsAre(CsvRow{"1", "2"}));
}

TEST(Csv, SaysWhereATableIsDamaged) {
  const auto refusal = [](const std::string& text) { return refusal_of_text<CsvReader>(text); };
  EXPECT_EQ(refusal(""), "x:1:1: expected a line with the names of the columns");
  EXPECT_EQ(refusal("a,b,a\n"), "x:1:5: expected columns of different names, but \"a\" is there twice");
  EXPECT_EQ(refusal("a,b\n1\n"), "x:2:2: expected 2 columns, not 1");
  EXPECT_EQ(refusal("a,b\n1,2,3\n"), "x:2:5: expected the end of the row after 2 columns, not 3 columns");
  EXPECT_EQ(refusal("a,b\n1,\"2\"x\n"),
            "x:2:6: expected \",\" or the end of the row after the closing quote, not \"x\"");
  EXPECT_EQ(refusal("a,b\n1,\"2\n3\n4\n"), "x:2:3: expected a quote to end the field that begins here");
  EXPECT_EQ(refusal("a,b\n1,\xFF\n"), "x:2:3: expected text in UTF-8, not \"\\xff\"");
}

TEST(Csv, AfterADamagedRowReadingGoesOnWithTheNextLine) {
  CsvReader reader(Input::text("a,b\n1,\"2\n3,4\n5\n6,\"\xFF\n7,8\n9,\"10\n\xFF\n11\",12\n13,14", "x"), {},
                   {.skip_damaged = true});
  EXPECT_THAT(reader.read_all(),
              ElementsAre(CsvRow{"3", "4"}, CsvRow{"7", "8"}, CsvRow{"11\"", "12"}, CsvRow{"13", "14"}));
  EXPECT_THAT(reader.report().errors,
              ElementsAre("x:5:4: expected text in UTF-8, not \"\\xff\"", "x:4:2: expected 2 columns, not 1",
                          "x:8:1: expected text in UTF-8, not \"\\xff\""));
}

TEST(Csv, AQuoteThatDoesNotEndIsBounded) {
  std::string text = "a,b\n1,\"2\n";
  for (int line = 0; line < 300'000; ++line) text += std::string(99, 'x') + "\n";
  EXPECT_EQ(refusal_of_text<CsvReader>(text), "x:2:3: expected a quote to end the field that begins here");
}

TEST(Sick, APairHasSentencesAndScore) {
  EXPECT_THAT(records_of<SickReader>(kSickHeader + "7\tA dog\tA cat\t3.6\tNEUTRAL\n"),
              ElementsAre(SickPair{"7", "A dog", "A cat", 3.6, "NEUTRAL"}));
}

TEST(Sick, SaysWhereAPairIsDamaged) {
  const auto refusal = [](const std::string& text) { return refusal_of_text<SickReader>(kSickHeader + text); };
  EXPECT_EQ(refusal("7\tA\tB\thigh\tNEUTRAL\n"), "x:2:7: expected a relatedness from 1 to 5, not \"high\"");
  EXPECT_EQ(refusal("7\tA\tB\t5.5\tNEUTRAL\n"), "x:2:7: expected a relatedness from 1 to 5, not \"5.5\"");
  EXPECT_EQ(refusal("7\t\tB\t5\tNEUTRAL\n"), "x:2:3: expected text in the column sentence_A");
  EXPECT_THROW(records_of<SickReader>("a\tb\n"), UsageError);
  SickReader reader(Input::text(kSickHeader + "1\tA\tB\t9\tN\n2\tA\n3\tA\tB\t2\tN\n", "x"), {.skip_damaged = true});
  EXPECT_EQ(reader.read_all().size(), 1U);
  EXPECT_EQ(reader.report().damaged, 2);
}

class ParsedSick : public ::testing::Test {
 protected:
  ParsedSick() { std::filesystem::create_directories(folder_); }
  ~ParsedSick() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  void write_two_pairs() const {
    for (const std::string side : {"a", "b"}) {
      write(side + ".toks", "A dog barks\nIt sleeps\n");
      write(side + ".parents", "2 3 0\n2 0\n");
      write(side + ".rels", "det nsubj root\nnsubj root\n");
    }
    write("sim.txt", "4.5\n1\n");
    write("id.txt", "17\n18\n");
  }
  std::string refusal() const {
    return refusal_of([&] { ParsedSickReader(folder_).read_all(); }).substr(folder_.string().size() + 1);
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ParsedSick, PairsHaveTreesScoresAndIds) {
  write_two_pairs();
  const std::vector<ParsedPair> pairs = ParsedSickReader(folder()).read_all();
  ASSERT_EQ(pairs.size(), 2U);
  const ParsedSentence dog{{"A", "dog", "barks"}, {2, 3, 0}, {"det", "nsubj", "root"}};
  EXPECT_EQ(pairs[0], (ParsedPair{"17", dog, dog, 4.5}));
  EXPECT_EQ(pairs[1].b.words, (std::vector<std::string>{"It", "sleeps"}));
}

TEST_F(ParsedSick, SaysWhereAFileIsDamaged) {
  const auto with = [&](const std::string& name, const std::string& text) {
    write_two_pairs();
    write(name, text);
    return refusal();
  };
  EXPECT_EQ(with("a.parents", "2 3 0\n2 1\n"),
            "a.parents:2:3: expected heads without a cycle, but word 2 is its own ancestor");
  EXPECT_EQ(with("b.parents", "2 0 0\n2 0\n"),
            "b.parents:1:5: expected one root, but word 2 is one and word 3 another");
  EXPECT_EQ(with("b.parents", "2 3 4\n2 0\n"), "b.parents:1:5: expected a head from 0 to 3, not 4");
  EXPECT_EQ(with("b.parents", "2 x 0\n2 0\n"), "b.parents:1:3: expected the number of a token or 0, not \"x\"");
  EXPECT_EQ(with("a.parents", "2 0\n2 0\n"), "a.parents:1:4: expected 3 parents, one per token, not 2");
  EXPECT_EQ(with("a.rels", "det nsubj root x\n\n"), "a.rels:1:17: expected 3 relations, one per token, not 4");
  EXPECT_EQ(with("a.toks", "\n\n"), "a.toks:1:1: expected at least one token");
  EXPECT_EQ(with("sim.txt", "0\n1\n"), "sim.txt:1:1: expected a relatedness from 1 to 5, not \"0\"");
  EXPECT_EQ(with("id.txt", "17\n"), "id.txt:2:1: expected as many lines as the other files of the folder have");
  EXPECT_EQ(with("b.rels", ""), "b.rels:1:1: expected as many lines as the other files of the folder have");
  EXPECT_EQ(with("b.toks", "A \xFF dog\n"), "b.toks:1:3: expected text in UTF-8, not \"\\xff do\"");
}

TEST_F(ParsedSick, SkipsADamagedPairInStep) {
  write_two_pairs();
  write("b.toks", "A \xFF dog\nIt sleeps\n");
  ParsedSickReader reader(folder(), {.skip_damaged = true});
  const std::vector<ParsedPair> pairs = reader.read_all();
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].id, "18");
  EXPECT_EQ(reader.report().damaged, 1);
}

TEST_F(ParsedSick, SaysThatAFileIsMissing) { EXPECT_THROW(ParsedSickReader{folder()}, ResourceError); }

TEST(RealSick, TheTableAndTheTreesHaveTheirPublishedSize) {
  const std::filesystem::path folder = testing::data_folder() / "sick";
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const auto check = [&](const std::string& table, const std::string& parsed, std::size_t pairs, std::size_t tokens) {
    const std::vector<SickPair> rows = SickReader(folder / table).read_all();
    const std::vector<ParsedPair> trees = ParsedSickReader(folder / "parsed" / parsed).read_all();
    ASSERT_EQ(rows.size(), pairs);
    ASSERT_EQ(trees.size(), pairs);
    std::size_t words = 0;
    for (std::size_t p = 0; p < pairs; ++p) {
      ASSERT_EQ(rows[p].relatedness, trees[p].relatedness);
      words += trees[p].a.words.size() + trees[p].b.words.size();
    }
    EXPECT_EQ(words, tokens);
  };
  check("SICK_train.txt", "train", 4500, 87'089);
  check("SICK_trial.txt", "dev", 500, 9'884);
  check("SICK_test_annotated.txt", "test", 4927, 95'218);
}

TEST(RealCsv, MoleculeNetsTablesHaveTheirPublishedSize) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const auto rows = [](const std::string& name) {
    return CsvReader(testing::data_folder() / "molecules" / name).read_all().size();
  };
  EXPECT_EQ(rows("delaney-processed.csv"), 1128U);
  EXPECT_EQ(rows("SAMPL.csv"), 642U);
  EXPECT_EQ(rows("Lipophilicity.csv"), 4200U);
  EXPECT_EQ(rows("BBBP.csv"), 2050U);
  EXPECT_EQ(rows("tox21.csv"), 7831U);
  EXPECT_EQ(rows("clintox.csv"), 1484U);
  EXPECT_EQ(rows("sider.csv"), 1427U);
  EXPECT_EQ(rows("qm9.csv.gz"), 133'885U);
}

}  // namespace
}  // namespace espalier::data
