/// `espalier export`, and `espalier predict` of what it wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

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
