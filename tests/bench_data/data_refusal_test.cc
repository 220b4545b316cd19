/// Files that are not what they should be: each mistake is told with its file, line and column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "bench/data/sets.h"
#include "bench/data/smiles.h"
#include "espalier/base/error.h"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;

class DataRefusal : public ::testing::Test {
 protected:
  ~DataRefusal() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  /// What a reader says of a file with this text, after the folder's name.
  std::string refusal(const std::string& name, const std::string& text,
                      const std::function<void(const fs::path&)>& read) const {
    write(name, text);
    try {
      read(folder_);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(folder_.string().size() + 1);
    }
    return "it was read";
  }

  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("espalier-bench-data-" + std::to_string(::getpid()));
};

TEST_F(DataRefusal, TellsWhereATreeIsWrong) {
  const auto refused = [&](const std::string& line) {
    return refusal("sst/train.txt", "(2 (2 It) (4 works))\n" + line + "\n",
                   [](const fs::path& folder) { sentiment_trees(folder); });
  };
  EXPECT_EQ(refused("(3 (2 It) (4 works)"), "sst/train.txt:2:20: expected ')' to close the node opened at column 1");
  EXPECT_EQ(refused("3 It"), "sst/train.txt:2:1: expected '('");
  EXPECT_EQ(refused("(5 It)"), "sst/train.txt:2:2: expected a label from 0 to 4 after '('");
  EXPECT_EQ(refused("(3 (2 It))"), "sst/train.txt:2:10: expected a word or two children before ')'");
  EXPECT_EQ(refused("(3 (2 a) (2 b) (2 c))"), "sst/train.txt:2:16: expected ')': a node has a word or two children");
  EXPECT_EQ(refused("(3 (2 a) (2 b) c)"), "sst/train.txt:2:16: expected ')' or '('");
  EXPECT_EQ(refused("(3 It) (2 b)"), "sst/train.txt:2:7: expected the line to end after its tree");
}

TEST_F(DataRefusal, TellsWhereASentenceIsWrong) {
  const auto line = [](const std::string& id, const std::string& head) {
    return id + "\tword\tword\tNOUN\tNN\t_\t" + head + "\troot\t_\t_\n";
  };
  const auto refused = [&](const std::string& text) {
    return refusal("ud_english_ewt/en_ewt-ud-train.conllu.gz", text,
                   [](const fs::path& folder) { dependency_trees(folder); });
  };
  EXPECT_THAT(refused("1\tword\n"), EndsWith(":1:3: expected ten columns with tabs between them"));
  EXPECT_THAT(refused(line("1", "0") + line("3", "1")), EndsWith(":2:1: expected word number 2"));
  EXPECT_THAT(refused(line("1", "x")), EndsWith(":1:23: expected a number, found \"x\""));
  EXPECT_THAT(refused(line("1", "2") + line("2", "1") + "\n"),
              EndsWith(":3:1: the sentence before has a word that is its own ancestor"));
  EXPECT_THAT(refused(line("1", "7") + "\n"), EndsWith(":2:1: the sentence before has 1 words, but a head is word 7"));
  EXPECT_THAT(refused(line("1", "0") + line("2", "0") + "\n"),
              EndsWith(":3:1: expected one root in the sentence before, found 2"));
}

TEST_F(DataRefusal, TellsWhereALatticeIsWrong) {
  write("ner_zh/jieba_dict_small.txt", "ab 3 n\n");
  const auto refused = [&](const std::string& text) {
    return refusal("ner_zh/resume_train.char.bmes", text, [](const fs::path& folder) { word_lattices(folder); });
  };
  EXPECT_EQ(refused("a O\nb\n"), "ner_zh/resume_train.char.bmes:2:1: expected a character, a space and a label");
  write("ner_zh/jieba_dict_small.txt", "ab\n");
  EXPECT_EQ(refused("a O\n"), "ner_zh/jieba_dict_small.txt:1:1: expected a word, its frequency and its tag");
}

TEST_F(DataRefusal, TellsWhereAMoleculeIsWrong) {
  const auto refused = [&](const std::string& line) {
    return refusal("molecules/Lipophilicity.csv", "CMPD_CHEMBLID,exp,smiles\n" + line + "\n",
                   [](const fs::path& folder) { molecules(folder); });
  };
  EXPECT_EQ(refused("X,1.5"), "molecules/Lipophilicity.csv:2:1: expected three columns with commas between them");
  EXPECT_EQ(refused("X,high,CC"), "molecules/Lipophilicity.csv:2:3: expected a number");
  EXPECT_EQ(refused("X,1.5,C?C"), "molecules/Lipophilicity.csv:2:8: expected an atom or a bond");
  EXPECT_EQ(refused("X,1.5,C(C"), "molecules/Lipophilicity.csv:2:10: expected ')' to close a branch");
  EXPECT_EQ(refused("X,1.5,C1CC"), "molecules/Lipophilicity.csv:2:11: expected ring 1 to be closed");
  EXPECT_EQ(refused("X,1.5,C[NH"), "molecules/Lipophilicity.csv:2:8: expected ']' to close the atom");
  EXPECT_EQ(refused("X,1.5,"), "molecules/Lipophilicity.csv:2:7: expected an atom");
}

TEST_F(DataRefusal, TellsWhichPlanIsWrong) {
  const auto refused = [&](const std::string& line) {
    return refusal("query_plans/job_postgres.jsonl.gz", line + "\n",
                   [](const fs::path& folder) { query_plans(folder); });
  };
  EXPECT_THAT(refused("{"), EndsWith(":1:1: expected a line of JSON"));
  EXPECT_THAT(refused("{}"), EndsWith(":1:1: expected a plan under \"explain\", \"Plan\""));
  EXPECT_THAT(refused(R"({"explain":{"Plan":{"Plan Rows":"many"}}})"),
              EndsWith(":1:1: expected an operator with a number \"Plan Rows\""));
}

TEST_F(DataRefusal, SaysThatAFileIsMissing) { EXPECT_THROW(sentiment_trees(folder()), ResourceError); }

TEST_F(DataRefusal, BringsMoreThanTwoChildrenTogetherBeforeTheirParent) {
  const std::string leaf =
      R"("Plan Rows":1,"Plan Width":4,"Startup Cost":0,"Total Cost":2,"Actual Total Time":0.5,"Node Type":"Scan")";
  const std::string parent =
      R"("Plan Rows":1,"Plan Width":4,"Startup Cost":0,"Total Cost":2,"Actual Total Time":0.5,"Node Type":"Append")";
  write("query_plans/job_postgres.jsonl.gz", R"({"explain":{"Plan":{)" + parent + R"(,"Plans":[{)" + leaf + "},{" +
                                                 leaf + "},{" + leaf + "},{" + leaf + "}]}}}\n");
  const DataSet<QueryPlan> set = query_plans(folder());
  ASSERT_EQ(set.instances.size(), 1U);
  ASSERT_EQ(set.instances[0].nodes.size(), 7U);
  EXPECT_EQ(set.words, 3);
  EXPECT_EQ(set.instances[0].nodes[4].left, 0);
  EXPECT_EQ(set.instances[0].nodes[4].right, 1);
  EXPECT_EQ(set.instances[0].nodes[5].left, 4);
  EXPECT_EQ(set.instances[0].nodes[5].right, 2);
  EXPECT_EQ(set.instances[0].nodes[6].left, 5);
  EXPECT_EQ(set.instances[0].nodes[6].right, 3);
}

TEST(Smiles, GivesAtomsAndBonds) {
  const SmilesGraph graph = parse_smiles("C[C@@H](=O)c1cc[nH]c1.[O-]Cl");
  EXPECT_THAT(graph.atoms, ElementsAre("C", "C", "O", "c", "c", "c", "n", "c", "O-", "Cl"));
  std::vector<std::string> bonds;
  for (const Molecule::Bond& bond : graph.bonds)
    bonds.push_back(std::to_string(bond.a) + "-" + std::to_string(bond.b) + ":" + std::to_string(bond.kind));
  EXPECT_THAT(bonds, ElementsAre("0-1:0", "1-2:1", "1-3:0", "3-4:3", "4-5:3", "5-6:3", "6-7:3", "3-7:3", "8-9:0"));
}

}  // namespace
}  // namespace espalier::bench
