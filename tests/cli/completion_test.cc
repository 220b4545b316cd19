/// Completion as shells see it.
#include "espalier/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/cli/commands.h"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// The lines that a command prints.
std::vector<std::string> lines_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Completion : public ::testing::Test {
 protected:
  Completion() {
    add_commands(app_);
    fs::create_directories(folder_);
    std::ofstream(folder_ / "bash") << bash_completion(app_);
    std::ofstream(folder_ / "zsh") << zsh_completion(app_);
  }
  ~Completion() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  /// What bash offers for the last of these words.
  std::vector<std::string> offered(const std::vector<std::string>& words) const {
    std::string line =
        "bash -c '. \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _espalier; "
        "((${#COMPREPLY[@]})) && printf \"%s\\n\" \"${COMPREPLY[@]}\"; true' " +
        (folder_ / "bash").string();
    for (const std::string& word : words) line += " '" + word + "'";
    return lines_of(line);
  }

  CLI::App app_{"", "espalier"};
  fs::path folder_ = fs::path(::testing::TempDir()) / ("completion_" + std::to_string(::getpid()));
};

TEST_F(Completion, OffersCommands) {
  EXPECT_THAT(offered({"espalier", "tr"}), ElementsAre("train"));
  EXPECT_THAT(offered({"espalier", ""}),
              AllOf(Contains("train"), Contains("eval"), Contains("help"), Contains("completion")));
  EXPECT_THAT(offered({"espalier", "completion", ""}), UnorderedElementsAre("bash", "zsh"));
  EXPECT_THAT(offered({"espalier", "help", "comp"}), ElementsAre("completion"));
}

TEST_F(Completion, OffersOptionsOfTheCommand) {
  EXPECT_THAT(offered({"espalier", "--v"}), ElementsAre("--version"));
  EXPECT_THAT(offered({"espalier", "train", "listops", "--out", "folder", "--epo"}), ElementsAre("--epochs"));
  EXPECT_THAT(offered({"espalier", "train", "--epo"}), IsEmpty());
}

TEST_F(Completion, OffersChoicesAndLeavesOtherValuesToFiles) {
  EXPECT_THAT(offered({"espalier", "train", "listops", "--ahead", ""}), UnorderedElementsAre("auto", "on", "off"));
  EXPECT_THAT(offered({"espalier", "train", "listops", "--ahead", "=", "o"}), UnorderedElementsAre("on", "off"));
  EXPECT_THAT(offered({"espalier", "train", "listops", "--ahead", "="}), UnorderedElementsAre("auto", "on", "off"));
  EXPECT_THAT(offered({"espalier", "train", "listops", "--out", ""}), IsEmpty());
}

/// All commands and options of an app, in both scripts.
void expect_all(const CLI::App& app, const std::string& bash, const std::string& zsh) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->nonpositional(); }))
    for (const std::string& name : option->get_lnames()) {
      EXPECT_THAT(bash, HasSubstr("--" + name));
      EXPECT_THAT(zsh, HasSubstr("'--" + name + ":"));
    }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    EXPECT_THAT(bash, HasSubstr(" " + command->get_name()));
    EXPECT_THAT(zsh, HasSubstr("'" + command->get_name() + ":"));
    expect_all(*command, bash, zsh);
  }
}

TEST_F(Completion, KnowsEveryCommandAndOption) { expect_all(app_, bash_completion(app_), zsh_completion(app_)); }

TEST_F(Completion, ItsScriptsAreWellFormed) {
  EXPECT_THAT(lines_of("bash -n " + (folder_ / "bash").string() + " 2>&1"), IsEmpty());
  if (lines_of("command -v zsh || true").empty()) GTEST_SKIP() << "zsh is not installed: its script is not checked";
  EXPECT_THAT(lines_of("zsh -n " + (folder_ / "zsh").string() + " 2>&1"), IsEmpty());
  // compadd and _describe only work inside the line editor: these stand for them.
  const auto in_zsh = [&](const std::string& words) {
    return lines_of(
        "zsh -fc 'compdef() { :; }; compadd() { shift; print -l -- \"$@\"; }; _files() { print files; }; "
        "_describe() { print -l -- \"${names[@]}\"; }; . " +
        (folder_ / "zsh").string() + "; words=(" + words + "); CURRENT=$#words; PREFIX=$words[-1]; _espalier'");
  };
  EXPECT_THAT(in_zsh("espalier train listops --ahead o"), UnorderedElementsAre("auto", "on", "off"));
  EXPECT_THAT(in_zsh("espalier train listops --out x"), ElementsAre("files"));
  EXPECT_THAT(in_zsh("espalier completion b"), ElementsAre("bash:For bash", "zsh:For zsh, with descriptions"));
  EXPECT_THAT(in_zsh("espalier train listops --e"), Contains(HasSubstr("--epochs:Passes over")));
}

}  // namespace
}  // namespace espalier::cli
