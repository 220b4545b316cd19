/// ListOps files: round trips, gzip, and every kind of broken line to the letter.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/random.h"
#include "espalier/data/listops.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

namespace fs = std::filesystem;

class ListOpsFile : public ::testing::Test {
 protected:
  ListOpsFile() {
    std::string pattern = (fs::path(::testing::TempDir()) / "espalier_listops_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ListOpsFile() override { fs::remove_all(folder_); }

  // The message for a file of this text, without the folder.
  std::string refusal_of(std::string_view text, const char* name = "x.tsv") {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    try {
      read_listops(folder_ / name);
    } catch (const DataError& error) {
      const std::string message = error.what();
      const std::string start = folder_.string() + "/";
      return message.starts_with(start) ? message.substr(start.size()) : message;
    }
    return "nothing was refused";
  }

  fs::path folder_;
};

TEST_F(ListOpsFile, TheFormatIsThePublishedOne) {
  const std::vector<std::int32_t> tokens = {kListOpsMax, 2, 9, kListOpsMin, 4, 7, kListOpsEnd, kListOpsEnd};
  const std::vector<Tree> trees = {listops_tree(tokens), listops_tree(std::vector<std::int32_t>{3})};
  write_listops(folder_ / "x.tsv", trees);
  EXPECT_EQ(read_file(folder_ / "x.tsv"), "9\t( ( ( ( [MAX 2 ) 9 ) ( ( ( [MIN 4 ) 7 ) ] ) ) ] )\n3\t3\n");
  EXPECT_EQ(read_listops(folder_ / "x.tsv"), trees);
}

TEST_F(ListOpsFile, WhatIsWrittenIsReadAndWrittenAgainTheSame) {
  const std::vector<Tree> trees = generate_listops({.seed = 8}, 5000);
  write_listops(folder_ / "a.tsv", trees);
  const std::vector<Tree> read = read_listops(folder_ / "a.tsv");
  EXPECT_EQ(read, trees);
  write_listops(folder_ / "b.tsv", read);
  EXPECT_EQ(read_file(folder_ / "a.tsv"), read_file(folder_ / "b.tsv"));
}

TEST_F(ListOpsFile, GzipIsWrittenByNameAndReadByContent) {
  const std::vector<Tree> trees = generate_listops({.seed = 9}, 5000);
  write_listops(folder_ / "x.tsv", trees);
  write_listops(folder_ / "x.tsv.gz", trees);
  const std::string compressed = read_file(folder_ / "x.tsv.gz");
  EXPECT_TRUE(compressed.starts_with("\x1f\x8b"));
  EXPECT_LT(compressed.size(), read_file(folder_ / "x.tsv").size() / 3);
  EXPECT_EQ(read_listops(folder_ / "x.tsv.gz"), trees);
  fs::rename(folder_ / "x.tsv.gz", folder_ / "y.tsv");
  EXPECT_EQ(read_listops(folder_ / "y.tsv"), trees);
  write_listops(folder_ / "again.gz", trees);
  EXPECT_EQ(read_file(folder_ / "again.gz"), compressed);
}

TEST_F(ListOpsFile, DamagedGzipIsRefused) {
  write_listops(folder_ / "x.gz", generate_listops({.seed = 9}, 5000));
  std::string bytes = read_file(folder_ / "x.gz");
  EXPECT_EQ(refusal_of(bytes.substr(0, bytes.size() / 2), "cut.gz"),
            "cut.gz: expected a whole gzip stream, but it ends early");
  EXPECT_EQ(refusal_of(bytes.substr(0, 5), "cut.gz"), "cut.gz: expected a whole gzip stream, but it ends early");
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // in the checksum
  EXPECT_EQ(refusal_of(bytes, "sum.gz"), "sum.gz: expected a gzip stream, but it is damaged");
}

TEST_F(ListOpsFile, TheLastLineNeedsNoEndAndLinesMayEndAsOnWindows) {
  write_file_atomically(folder_ / "x.tsv", "3\t3\r\n2\t( ( ( [MIN 2 ) 3 ) ] )");
  const std::vector<Tree> trees = read_listops(folder_ / "x.tsv");
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0].label(), 3);
  EXPECT_EQ(listops_text(trees[1]), "( ( ( [MIN 2 ) 3 ) ] )");
}

TEST_F(ListOpsFile, AReaderGivesOneExpressionAtATime) {
  write_file_atomically(folder_ / "x.tsv", "3\t3\n4\t4\n5\t6\n");
  ListOpsReader reader(folder_ / "x.tsv");
  EXPECT_EQ(reader.next()->label(), 3);
  EXPECT_EQ(reader.next()->label(), 4);
  EXPECT_THROW(reader.next(), DataError);
  EXPECT_FALSE(reader.next().has_value());
}

TEST_F(ListOpsFile, UnreadableFilesAreResourceErrors) {
  const std::string missing = (folder_ / "missing").string();
  try {
    read_listops(missing);
    FAIL() << "a file that is not there was read";
  } catch (const ResourceError& error) {
    EXPECT_EQ(error.what(), "cannot read \"" + missing + "\": No such file or directory");
  }
  try {
    read_listops(folder_);
    FAIL() << "a folder was read";
  } catch (const ResourceError& error) {
    EXPECT_EQ(error.what(), "cannot read \"" + folder_.string() + "\": Is a directory");
  }
}

struct Broken {
  const char* line;
  const char* message;  // after "x.tsv:2:"
};

TEST_F(ListOpsFile, EveryBrokenLineIsRefusedAtItsColumn) {
  constexpr std::array kBroken = {
      // the label
      Broken{"", "1: expected a label 0 to 9, not the end of the line"},
      Broken{"x\t3", "1: expected a label 0 to 9, not \"x\""},
      Broken{"-1\t3", "1: expected a label 0 to 9, not \"-1\""},
      Broken{"label and much more text", "1: expected a label 0 to 9, not \"label and much more text\""},
      Broken{"label and much more text!", "1: expected a label 0 to 9, not \"label and much more text...\""},
      Broken{"\xef\xbb\xbf\t3", "1: expected a label 0 to 9, not \"\\xef\\xbb\\xbf\""},
      Broken{"3", "2: expected a tab after the label, not the end of the line"},
      Broken{"3 3", "2: expected a tab after the label, not \" 3\""},
      Broken{"12\t3", "2: expected a tab after the label, not \"2\""},
      // tokens
      Broken{"3\t", "3: expected an operator, a digit, ']' or a parenthesis, not the end of the line"},
      Broken{"3\t ", "3: expected an operator, a digit, ']' or a parenthesis, not \" \""},
      Broken{"3\t10", "3: expected an operator, a digit, ']' or a parenthesis, not \"10\""},
      Broken{"3\t( ( ( [AVG 2 ) 3 ) ] )", "9: expected an operator, a digit, ']' or a parenthesis, not \"[AVG\""},
      Broken{"3\t( ( ( [MAX  2 ) 3 ) ] )", "14: expected an operator, a digit, ']' or a parenthesis, not \" \""},
      Broken{"3\t( ( ([MAX 2 ) 3 ) ] )", "7: expected an operator, a digit, ']' or a parenthesis, not \"([MAX\""},
      Broken{"3\t( ( ( [MAX 2 ) 3 )\t] )", "20: expected an operator, a digit, ']' or a parenthesis, not \")\\x09]\""},
      // parentheses
      Broken{"3\t)", "3: expected an expression, not ')'"},
      Broken{"3\t( )", "5: expected two parts in the node opened at column 3, not 0"},
      Broken{"3\t( [MAX )", "10: expected two parts in the node opened at column 3, not 1"},
      Broken{"3\t( ( ( [MAX 2 ) 3 ) ]", "23: expected ')' to close the node opened at column 3"},
      Broken{"3\t( (", "6: expected ')' to close the node opened at column 5"},
      Broken{"3\t( ( ( [MAX 2 ) 3 ) ] ) )", "25: expected the end of the line, not \" )\""},
      Broken{"3\t( ( ( [MAX 2 ) 3 ) ] ) ", "25: expected the end of the line, not \" \""},
      Broken{"3\t3 3", "4: expected the end of the line, not \" 3\""},
      Broken{"3\t3\t3", "3: expected an operator, a digit, ']' or a parenthesis, not \"3\\x093\""},
      Broken{"3\t( [MAX 2 3 )", "12: expected ')' to close the node opened at column 3, not \"3\""},
      Broken{"3\t( [MAX 2 ( ] )", "12: expected ')' to close the node opened at column 3, not \"(\""},
      // the form of an expression
      Broken{"3\t[MAX", "3: expected a tree in parentheses, such as ( ( ( [MAX 2 ) 9 ) ] ), not \"[MAX\""},
      Broken{"3\t[MAX 2 3", "3: expected a tree in parentheses, such as ( ( ( [MAX 2 ) 9 ) ] ), not \"[MAX 2 3\""},
      Broken{"3\tMAX(2, 3", "3: expected a tree in parentheses, such as ( ( ( [MAX 2 ) 9 ) ] ), not \"MAX(2, 3\""},
      Broken{"3\t[AVG 2 3 ]",
             "3: expected a tree in parentheses, such as ( ( ( [MAX 2 ) 9 ) ] ), with the operators MIN, MAX, MED and "
             "SM, not \"[AVG 2 3 ]\""},
      Broken{"3\t]", "3: expected a whole expression, not \"]\""},
      Broken{"3\t( [MAX 3 )", "3: expected a whole expression, not a list without its ']'"},
      Broken{"3\t( 3 4 )", "5: expected an operator first in the node opened at column 3, not \"3\""},
      Broken{"3\t( ] 4 )", "5: expected an operator first in the node opened at column 3, not \"]\""},
      Broken{"3\t( ( ( ( [MAX 2 ) 3 ) ] ) 4 )",
             "5: expected an operator first in the node opened at column 3, not a finished list"},
      Broken{"3\t( [MAX [MIN )", "10: expected an argument or ']', not \"[MIN\""},
      Broken{"3\t( [MAX ( [MIN 3 ) )", "10: expected an argument or ']', not a list without its ']'"},
      Broken{"3\t( [MAX ] )", "10: expected at least 2 arguments before ']', not 0"},
      Broken{"3\t( ( [MAX 3 ) ] )", "16: expected at least 2 arguments before ']', not 1"},
      // other notations of whole expressions
      Broken{"3\t[MAX 2 3 ]", "3: expected the tree in parentheses, ( ( ( [MAX 2 ) 3 ) ] ), not \"[MAX 2 3 ]\""},
      Broken{"3\t[MAX 2 3]", "3: expected the tree in parentheses, ( ( ( [MAX 2 ) 3 ) ] ), not \"[MAX 2 3]\""},
      Broken{"3\t(MAX 2 3)", "3: expected the tree in parentheses, ( ( ( [MAX 2 ) 3 ) ] ), not \"(MAX 2 3)\""},
      Broken{"3\tmax(2, 3)", "3: expected the tree in parentheses, ( ( ( [MAX 2 ) 3 ) ] ), not \"max(2, 3)\""},
      Broken{"3\tMAX(2, 3)", "3: expected the tree in parentheses, ( ( ( [MAX 2 ) 3 ) ] ), not \"MAX(2, 3)\""},
      Broken{
          "3\t[MAX 2 [SM 1 2]]",
          "3: expected the tree in parentheses, ( ( ( [MAX 2 ) ( ( ( [SM 1 ) 2 ) ] ) ) ] ), not \"[MAX 2 [SM 1 2]]\""},
      // the value
      Broken{"3\t4", "1: expected label 4, which is the value of the expression, not 3"},
      Broken{"2\t( ( ( [MAX 2 ) 3 ) ] )", "1: expected label 3, which is the value of the expression, not 2"},
  };
  for (const Broken& broken : kBroken)
    EXPECT_EQ(refusal_of("7\t7\n" + std::string(broken.line) + "\n7\t7\n"), "x.tsv:2:" + std::string(broken.message))
        << broken.line;
}

TEST_F(ListOpsFile, AFileWithoutExpressionsIsRefused) {
  EXPECT_EQ(refusal_of(""), "x.tsv: expected at least one expression, but the file is empty");
}

TEST_F(ListOpsFile, AnyChangeOfAByteIsRefusedOrStillTrue) {
  write_listops(folder_ / "x.tsv", generate_listops({.seed = 1, .max_tokens = 30}, 10));
  const std::string text = read_file(folder_ / "x.tsv");
  constexpr std::string_view kBytes = "0123456789[]MINAXEDS() \t\n\r\xff";
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string changed = text;
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size())));
    const char byte = kBytes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(kBytes.size())))];
    if (round % 3 == 0) changed[at] = byte;
    if (round % 3 == 1) changed.insert(at, 1, byte);
    if (round % 3 == 2) changed.erase(at, 1);
    const std::string refusal = refusal_of(changed);
    if (refusal != "nothing was refused") {
      ++refused;
      EXPECT_NE(refusal.find(": expected "), std::string::npos) << refusal;
    } else {
      for (const Tree& tree : read_listops(folder_ / "x.tsv")) EXPECT_EQ(tree.label(), evaluate_listops(tree));
    }
  }
  EXPECT_GT(refused, 700);
}

TEST_F(ListOpsFile, AMillionNodesInAChainAreWrittenAndRead) {
  constexpr std::size_t kLists = 170'000;
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < kLists; ++i) tokens.insert(tokens.end(), {kListOpsMax, 1});
  tokens.push_back(0);
  tokens.insert(tokens.end(), kLists, kListOpsEnd);
  const std::vector<Tree> trees = {listops_tree(tokens)};
  EXPECT_GT(trees[0].size(), 1'000'000);
  write_listops(folder_ / "x.tsv", trees);
  EXPECT_EQ(read_listops(folder_ / "x.tsv"), trees);
  std::string opened = "1\t";
  for (int i = 0; i < 1'000'000; ++i) opened += "( ";
  EXPECT_EQ(refusal_of(opened + "x"),
            "x.tsv:1:2000003: expected an operator, a digit, ']' or a parenthesis, not \"x\"");
}

TEST_F(ListOpsFile, WritingIsAllOrNothing) {
  const std::vector<Tree> trees = generate_listops({.seed = 1}, 100);
  write_file_atomically(folder_ / "file", "text");
  EXPECT_THROW(write_listops(folder_ / "file" / "x.tsv", trees), ResourceError);
  if (fs::is_character_file("/dev/full")) {
    EXPECT_THROW(write_listops("/dev/full", trees), ResourceError);
  }
  {
    TextWriter writer(folder_ / "file");
    writer.write("other");
  }
  EXPECT_EQ(read_file(folder_ / "file"), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace espalier::data
