/// Files that are not what they should be: each mistake is told with its file, line and column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "bench/data/sets.h"
#include "espalier/base/error.h"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;
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

// The readers have tests of their own, in tests/data: here is what only the benchmark expects.
TEST_F(DataRefusal, TellsWhereAFileIsWrong) {
  EXPECT_EQ(refusal("sst/train.txt", "(2 (2 It) (4 works))\n(5 It)\n",
                    [](const fs::path& folder) { sentiment_trees(folder); }),
            "sst/train.txt:2:2: expected a label from 0 to 4 after '(', not \"5\"");
  EXPECT_THAT(refusal("ud_english_ewt/en_ewt-ud-train.conllu.gz", "1\tword\n",
                      [](const fs::path& folder) { dependency_trees(folder); }),
              EndsWith(":1:7: expected ten columns with tabs between them, not 2"));
  write("ner_zh/jieba_dict_small.txt", "ab 3 n\n");
  EXPECT_EQ(refusal("ner_zh/resume_train.char.bmes", "a O\nb\n", [](const fs::path& folder) { word_lattices(folder); }),
            "ner_zh/resume_train.char.bmes:2:2: expected a word and a tag in columns, not 1 column");
}

TEST_F(DataRefusal, TellsWhichPlanIsWrong) {
  const auto refused = [&](const std::string& line) {
    return refusal("query_plans/job_postgres.jsonl.gz", line + "\n",
                   [](const fs::path& folder) { query_plans(folder); });
  };
  EXPECT_THAT(refused("{}"), EndsWith("expected a plan under \"Plan\" or \"explain\", \"Plan\" in the JSON that "
                                      "begins here"));
  EXPECT_THAT(refused(R"({"explain":{"Plan":{"Node Type":"Scan","Plan Rows":"many"}}})"),
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

}  // namespace
}  // namespace espalier::bench
