/// `espalier bench` as its users see it, on tiny data: the table, the records, the picture, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/run_command.h"
#include "tests/support/well_formed.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::content_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class BenchCommand : public ::testing::Test {
 protected:
  BenchCommand() { fs::create_directories(folder_); }
  ~BenchCommand() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  CommandResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "bench");
    return testing::run_command(folder_, arguments);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("espalier-bench-" + std::to_string(::getpid()));
};

TEST_F(BenchCommand, MeasuresAndWritesWhatItMeasured) {
  const CommandResult result =
      run({"--workloads", "B1",  "--sizes",    "B1=8/6", "--batches",          "1,4",    "--modes",       "train,infer",
           "--threads",   "1,2", "--rounds",   "2",      "--seconds",          "0.05",   "--instances",   "12",
           "--data",      "",    "--products", "--json", path("records.json"), "--plot", path("plot.svg")});
  ASSERT_EQ(result.code, 0) << result.error;
  EXPECT_THAT(result.error, IsEmpty());  // progress is for terminals
  EXPECT_THAT(
      result.out,
      HasSubstr("B1 8/6: binary Tree-LSTM on sentiment trees, train, 1 thread, generated data\n batch variant"));
  EXPECT_THAT(result.out, HasSubstr("B1 8/6: binary Tree-LSTM on sentiment trees, infer, 2 threads"));
  EXPECT_THAT(result.out, HasSubstr("What it is to show"));
  EXPECT_THAT(result.out, HasSubstr("Products in a minibatch, against the same calls timed alone"));
  EXPECT_THAT(result.out, HasSubstr("8 settings in "));

  const nlohmann::json records = nlohmann::json::parse(content_of(path("records.json")));
  ASSERT_TRUE(records.is_array());
  std::set<std::string> variants;
  for (const nlohmann::json& record : records) {
    for (const char* const key : {"workload", "sizes", "mode", "variant", "leaves", "data"})
      EXPECT_TRUE(record.at(key).is_string()) << key;
    for (const char* const key : {"batch", "threads", "instances_per_second", "spread", "rounds", "batch_seconds",
                                  "nodes", "steps", "bound", "bytes_copied", "peak_bytes"})
      EXPECT_TRUE(record.at(key).is_number()) << key;
    for (const char* const key : {"recording", "scheduling", "planning", "forward", "backward", "update", "copying",
                                  "products", "maps", "profiled"})
      EXPECT_GE(record.at("breakdown").at(key).get<double>(), 0) << key;
    EXPECT_TRUE(record.at("ratio_to_limit").is_number());
    EXPECT_EQ(record.at("data"), "generated");
    if (record.at("variant") == "cells") {
      EXPECT_GE(record.at("steps").get<double>(), record.at("bound").get<double>());
      EXPECT_GT(record.at("peak_bytes").get<double>(), 0);
    }
    const bool has_products = record.at("variant") == "cells" || record.at("variant") == "recursion";
    if (has_products && record.at("threads") == 1) {
      // Products this small take less time than reading the clock: there may be nothing left to compare.
      EXPECT_TRUE(record.at("products").at("ratio").is_number());
      EXPECT_GT(record.at("products").at("kinds").size(), 0U);
      EXPECT_TRUE(record.at("products").at("shares").at("products").is_number());
    } else {
      EXPECT_TRUE(record.at("products").is_null());
    }
    variants.insert(record.at("variant").get<std::string>() + " " + record.at("leaves").get<std::string>());
  }
  for (const char* const variant :
       {"limit each", "limit once", "cells each", "cells once", "recursion each", "plain each"})
    EXPECT_TRUE(variants.contains(variant)) << variant;
  EXPECT_EQ(testing::xml_problem(content_of(path("plot.svg"))), "");
}

TEST_F(BenchCommand, RunsEveryWorkload) {
  const CommandResult result = run({"--sizes",     "B0=random/8",
                                    "--sizes",     "B1=8/6",
                                    "--sizes",     "B2=8/6",
                                    "--sizes",     "B3=8/6",
                                    "--sizes",     "B4=8/6",
                                    "--sizes",     "B5=8/6",
                                    "--sizes",     "B6=8",
                                    "--sizes",     "B7=8",
                                    "--sizes",     "B8=4",
                                    "--batches",   "3",
                                    "--modes",     "train",
                                    "--threads",   "1",
                                    "--rounds",    "1",
                                    "--seconds",   "0.01",
                                    "--instances", "6",
                                    "--data",      "",
                                    "--variants",  "cells,limit",
                                    "--leaves",    "once",
                                    "--plot",      path("plot.html")});
  ASSERT_EQ(result.code, 0) << result.error;
  for (const char* const workload :
       {"B0 random/8", "B1 8/6", "B2 8/6", "B3 8/6", "B4 8/6", "B5 8/6", "B6 8", "B7 8", "B8 4"})
    EXPECT_THAT(result.out, HasSubstr(std::string("\n") + workload + ": "));
  EXPECT_THAT(content_of(path("plot.html")), StartsWith("<!DOCTYPE html>"));
}

TEST_F(BenchCommand, ListsItsWorkloads) {
  const CommandResult result = run({"--list"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("B1  binary Tree-LSTM on sentiment trees\n"));
  EXPECT_THAT(result.out, HasSubstr("300/150, 128/128, 64/64"));
}

TEST_F(BenchCommand, RefusesWhatItDoesNotKnowBeforeItMeasures) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const CommandResult result = run(arguments);
    EXPECT_NE(result.code, 0);
    EXPECT_THAT(result.out, IsEmpty());
    return result.error;
  };
  EXPECT_THAT(refused({"--workloads", "B11"}),
              StartsWith("espalier: there is no workload \"B11\": the workloads are B0"));
  EXPECT_THAT(refused({"--workloads", "B1", "--sizes", "B1=big"}),
              StartsWith("espalier: sizes of B1 are embedding/hidden, as in 300/150, but \"big\" is given"));
  EXPECT_THAT(refused({"--workloads", "B1", "--sizes", "B1"}),
              StartsWith("espalier: sizes are given as in B1=300/150"));
  EXPECT_THAT(refused({"--workloads", "B1", "--sizes", "B2=1/1"}),
              StartsWith("espalier: sizes are given for B2, which is not to be measured"));
  EXPECT_THAT(refused({"--workloads", "B1", "--batches", "0"}),
              StartsWith("espalier: a minibatch of 0 is asked for, but 1 is the least"));
  EXPECT_THAT(refused({"--modes", "fly"}), StartsWith("espalier: "));
  EXPECT_THAT(refused({"--workloads", "B1", "--json", path("stdout/records.json")}), StartsWith("espalier: "));
  EXPECT_THAT(refused({"--workloads", "B1", "--data", path("nowhere")}), StartsWith("espalier: cannot read "));
}

}  // namespace
}  // namespace espalier
