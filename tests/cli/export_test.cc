/// `espalier export`, and `espalier predict` of what it wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "espalier/data/molecule.h"
#include "tests/cli/run_command.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using ::testing::HasSubstr;

class ExportCommands : public ::testing::Test {
 protected:
  ExportCommands() { fs::create_directories(folder_ / "streams"); }
  ~ExportCommands() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  CommandResult run(const std::vector<std::string>& arguments) const {
    return testing::run_command(folder_ / "streams", arguments);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// A model of an epoch, exported without samples, answers to its training data from the file as from the run.
  void expect_same_answers(const std::string& model, const std::string& data,
                           const std::vector<std::string>& options) const {
    SCOPED_TRACE(model);
    const std::string folder = path(model + options.back() + ".run");
    std::vector<std::string> train{"train", model, "--data", path(data), "--out", folder};
    train.insert(train.end(), {"--epochs", "1", "--held-out", "0"});
    train.insert(train.end(), options.begin(), options.end());
    const CommandResult trained = run(train);
    ASSERT_EQ(trained.code, 0) << trained.error;
    const CommandResult exported = run({"export", folder, "-o", path("model.onnx")});
    ASSERT_EQ(exported.code, 0) << exported.error;
    const CommandResult from_file = run({"predict", path("model.onnx"), path(data)});
    EXPECT_EQ(from_file.code, 0) << from_file.error;
    EXPECT_FALSE(from_file.out.empty());
    EXPECT_EQ(from_file.out, run({"predict", folder, path(data)}).out);
  }

  fs::path folder_ = fs::temp_directory_path() / ("export_commands_" + std::to_string(::getpid()));
};

TEST_F(ExportCommands, PredictAnswersFromTheFileAsFromTheRun) {
  std::ofstream(folder_ / "trees.txt")
      << "(4 (2 It) (4 (2 is) (4 good)))\n(0 (2 It) (0 (2 is) (0 bad)))\n(4 good)\n(0 bad)\n(2 fine)\n";
  const CommandResult trained = run({"train", "sentiment", "--data", path("trees.txt"), "--out", path("run"),
                                     "--epochs", "1", "--hidden", "5", "--embedding", "6"});
  ASSERT_EQ(trained.code, 0) << trained.error;
  const CommandResult exported = run({"export", path("run"), "-o", path("model.onnx")});
  EXPECT_EQ(exported.code, 0) << exported.error;
  EXPECT_THAT(exported.out, HasSubstr("  tree_lstm.node\n"));
  const CommandResult from_file = run({"predict", path("model.onnx"), path("trees.txt")});
  EXPECT_EQ(from_file.code, 0) << from_file.error;
  EXPECT_THAT(from_file.out, HasSubstr("probabilities"));
  EXPECT_EQ(from_file.out, run({"predict", path("run"), path("trees.txt")}).out);
  // Also with more samples, and from the file again.
  const CommandResult again =
      run({"export", path("model.onnx"), "-o", path("again.onnx"), "--samples", path("trees.txt")});
  EXPECT_EQ(again.code, 0) << again.error;
  EXPECT_EQ(run({"predict", path("again.onnx"), path("trees.txt")}).out, from_file.out);
}

TEST_F(ExportCommands, PlansNeedNoSamples) {
  std::ofstream plans(folder_ / "plans.jsonl");
  for (const std::string scan : {"Seq Scan", "Index Scan", "Seq Scan", "Bitmap Scan"}) {
    const std::string node = R"({"Node Type": ")" + scan +
                             R"(", "Startup Cost": 1, "Total Cost": 5, "Plan Rows": 7, "Plan Width": 8, )" +
                             R"("Actual Total Time": 0.5, "Actual Loops": 1})";
    plans << R"({"Plan": {"Node Type": "Append", "Startup Cost": 1, "Total Cost": 9, "Plan Rows": 9, "Plan Width": 8, )"
          << R"("Actual Total Time": 1.5, "Actual Loops": 1, "Plans": [)" << node << ", " << node << ", " << node
          << R"(]}, "Execution Time": 2})"
          << "\n";
  }
  plans.close();
  expect_same_answers("plans", "plans.jsonl", {"--hidden", "5"});
}

TEST_F(ExportCommands, MoleculesNeedNoSamples) {
  if (!data::rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  std::ofstream(folder_ / "molecules.csv") << "smiles,y\nC,1\nCC,2\nC=CC#N,3.5\nc1ccccc1O,6\n[Na+].[Cl-],0.5\n";
  for (const std::string network : {"message_passing", "weave"})
    expect_same_answers("molecules", "molecules.csv", {"--hidden", "5", "--targets", "y", "--network", network});
}

TEST_F(ExportCommands, RefuseAParserByNameAlsoWithSamples) {
  std::ofstream(folder_ / "train.conllu") << "1\tDogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n"
                                             "2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
                                             "1\tBark\t_\t_\t_\t_\t0\troot\t_\t_\n\n";
  const CommandResult trained = run(
      {"train", "parser", "--data", path("train.conllu"), "--out", path("run"), "--epochs", "1", "--held-out", "0"});
  ASSERT_EQ(trained.code, 0) << trained.error;
  const CommandResult refused =
      run({"export", path("run"), "-o", path("model.onnx"), "--samples", path("train.conllu")});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.error, HasSubstr("export: the model \"parser\" has no static graph: each move depends on"));
  EXPECT_FALSE(fs::exists(folder_ / "model.onnx"));
}

TEST_F(ExportCommands, RefusesWhatIsNoModel) {
  std::ofstream(folder_ / "text.onnx") << "no model";
  const CommandResult refused = run({"predict", path("text.onnx"), path("text.onnx")});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.error, HasSubstr("text.onnx"));
  const CommandResult no_run = run({"export", path("nowhere"), "-o", path("model.onnx")});
  EXPECT_NE(no_run.code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "model.onnx"));
}

}  // namespace
}  // namespace espalier
