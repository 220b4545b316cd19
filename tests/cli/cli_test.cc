/// The command as its users see it: what it writes, what it says when something is wrong, and what it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_command.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using testing::CommandOptions;
using testing::CommandResult;
using testing::content_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class Command : public ::testing::Test {
 protected:
  Command() { fs::create_directories(folder_ / "streams"); }
  ~Command() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  CommandResult run(const std::vector<std::string>& arguments, const CommandOptions& options = {}) const {
    return testing::run_command(folder_ / "streams", arguments, options);
  }

  /// A very short training, and further arguments.
  CommandResult train(const std::vector<std::string>& more, const CommandOptions& options = {}) const {
    std::vector<std::string> arguments{"train",       "listops", "--train",   "60", "--held-out",   "40",
                                       "--embedding", "8",       "--hidden",  "12", "--max-tokens", "25",
                                       "--batch",     "16",      "--compare", "0.1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, options);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return path(name);
  }

  std::vector<std::string> files_in(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) names.push_back(entry.path().filename().string());
    return names;
  }

  nlohmann::json json_of(const std::string& name) const { return nlohmann::json::parse(content_of(path(name))); }

  /// One clear message: the only line that begins with the command's name, and nothing that claims success.
  static void expect_refused(const CommandResult& result, const std::string& message, int code = 1) {
    EXPECT_EQ(result.code, code) << result.error;
    EXPECT_THAT(result.error, HasSubstr("espalier: " + message));
    std::size_t messages = 0;
    for (std::size_t at = 0; (at = result.error.find("espalier: ", at)) != std::string::npos; ++at) ++messages;
    EXPECT_EQ(messages, 1U) << result.error;
  }
  /// The same for what is refused before any work: there is nothing but the message.
  static void expect_refused_at_once(const CommandResult& result, const std::string& message, int code = 1) {
    expect_refused(result, message, code);
    EXPECT_THAT(result.error, StartsWith("espalier: "));
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_THAT(result.out, Not(HasSubstr("accuracy")));
    EXPECT_THAT(result.out, Not(HasSubstr("weights")));
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("espalier-cli-" + std::to_string(::getpid()));
};

// --- what it is for --------------------------------------------------------------------------------------------------

TEST_F(Command, DescribesData) {
  const CommandResult result = run({"data", "describe", write("trees.txt", "(1 (0 a) (2 b))\n(1 (0 a) (2 c))\n")});
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_EQ(result.out, path("trees.txt") +
                            ": labelled trees in brackets\n"
                            "  trees                    2\n"
                            "  shape                    binary\n"
                            "  words per tree           2 to 2, mean 2.0\n"
                            "  depth                    1 to 1, mean 1.0\n"
                            "  distinct words           3\n"
                            "\nlabels of the roots: 1 different\n"
                            "  1                                2 100.0%  ##############################\n"
                            "\nfits the model: sentiment\n");
  expect_refused_at_once(run({"data", "describe", write("noise.txt", "once upon\n")}),
                         path("noise.txt") + ":1:1: expected labelled trees");
}

TEST_F(Command, WritesAPageAndLogsOfARun) {
  const CommandResult result =
      train({"--epochs", "2", "--out", path("out"), "--report", path("pages/run.html"), "--log", path("log")});
  EXPECT_EQ(result.code, 0) << result.error;
  EXPECT_THAT(result.out, HasSubstr("report: " + path("pages/run.html") + "\n"));
  EXPECT_THAT(content_of(path("pages/run.html")), HasSubstr("<h1><bdi>ListOps</bdi></h1>"));
  const std::string table = content_of(path("log/log.csv"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);  // a header and two epochs
  EXPECT_EQ(files_in("log").size(), 2U);
}

TEST_F(Command, TrainsAndEvaluatesToTheLastDigit) {
  const CommandResult trained = train({"--epochs", "3", "--out", path("run"), "--summary", path("run/train.json")});
  ASSERT_EQ(trained.code, 0) << trained.error;
  EXPECT_THAT(files_in("run"), UnorderedElementsAre("listops.safetensors", "train.json"));
  const nlohmann::json summary = json_of("run/train.json");
  EXPECT_EQ(summary["task"], "listops");
  EXPECT_EQ(summary["train_instances"], 60);
  EXPECT_EQ(summary["held_out"]["instances"], 40);
  EXPECT_EQ(summary["epochs"].size(), 3U);
  EXPECT_EQ(summary["threads"], 2);
  for (const char* const threads : {"1", "3"}) {
    const CommandResult evaluated = run({"eval", "--weights", path("run/listops.safetensors"), "--summary",
                                         path("run/eval.json"), "--threads", threads});
    ASSERT_EQ(evaluated.code, 0) << evaluated.error;
    const nlohmann::json again = json_of("run/eval.json");
    EXPECT_EQ(again["held_out"], summary["held_out"]);
    EXPECT_EQ(again["held_out"].dump(), summary["held_out"].dump());
    EXPECT_EQ(again["majority_baseline"], summary["majority_baseline"]);
    // Only the score: training printed the facts of the data.
    const std::string score = trained.out.substr(trained.out.find("\nheld out: ") + 1);
    EXPECT_EQ(evaluated.out, score.substr(0, score.find('\n') + 1));
  }
}

TEST_F(Command, SameSeedAndThreadsGiveTheSameWeights) {
  ASSERT_EQ(train({"--out", path("a"), "--seed", "5"}).code, 0);
  ASSERT_EQ(train({"--out", path("b"), "--seed", "5"}).code, 0);
  ASSERT_EQ(train({"--out", path("c"), "--seed", "6"}).code, 0);
  const std::string weights = content_of(path("a/listops.safetensors"));
  EXPECT_TRUE(weights == content_of(path("b/listops.safetensors")));
  EXPECT_FALSE(weights == content_of(path("c/listops.safetensors")));
}

TEST_F(Command, AnInterruptedTrainingSaysHowToResumeItAndGivesTheSameWeights) {
  ASSERT_EQ(train({"--out", path("whole"), "--epochs", "400"}).code, 0);
  const std::vector<std::string> arguments{"--out", path("run of two lives"), "--epochs", "400"};
  const CommandResult stopped =
      train(arguments, {.interrupt_when = path("run of two lives/listops.run/checkpoint.safetensors")});
  ASSERT_EQ(stopped.code, 130) << stopped.error;
  EXPECT_THAT(stopped.error, HasSubstr("; to resume: espalier train listops --out '" + path("run of two lives") +
                                       "' --train 60 --held-out 40 --max-tokens 25 --embedding 8 --hidden 12 --epochs "
                                       "400 --batch 16 --compare 0.1 --resume"));
  expect_refused(train(arguments),
                 "folder \"" + path("run of two lives/listops.run") +
                     "\" has a run that has not ended: resume it, or choose another folder",
                 2);
  std::vector<std::string> again = arguments;
  again.emplace_back("--resume");
  const CommandResult resumed = train(again);
  ASSERT_EQ(resumed.code, 0) << resumed.error;
  EXPECT_TRUE(content_of(path("whole/listops.safetensors")) ==
              content_of(path("run of two lives/listops.safetensors")));
  EXPECT_THAT(files_in("run of two lives"), ElementsAre("listops.safetensors"));
  expect_refused(train(again), "there is no run to resume in folder \"" + path("run of two lives/listops.run") + "\"",
                 2);
}

TEST_F(Command, ReadsTheDataItWrote) {
  const CommandResult first =
      train({"--out", path("a"), "--write-data", path("data"), "--summary", path("a/summary.json")});
  ASSERT_EQ(first.code, 0) << first.error;
  EXPECT_THAT(files_in("data"), UnorderedElementsAre("train.tsv", "held_out.tsv"));
  const CommandResult second = train({"--out", path("b"), "--train-data", path("data/train.tsv"), "--held-out-data",
                                      path("data/held_out.tsv"), "--summary", path("b/summary.json")});
  ASSERT_EQ(second.code, 0) << second.error;
  const nlohmann::json generated = json_of("a/summary.json");
  const nlohmann::json read = json_of("b/summary.json");
  EXPECT_EQ(generated["data"], "generated");
  EXPECT_EQ(read["data"], "read");
  EXPECT_EQ(read["held_out"], generated["held_out"]);
  EXPECT_EQ(read["depth_histogram"], generated["depth_histogram"]);

  // Weights from a file's data do not say which expressions were held out; with those, the figures are the same.
  expect_refused_at_once(run({"eval", "--weights", path("b/listops.safetensors")}),
                         path("b/listops.safetensors") + " does not say how to make its held-out expressions again", 2);
  const CommandResult evaluated = run({"eval", "--weights", path("b/listops.safetensors"), "--data",
                                       path("data/held_out.tsv"), "--summary", path("b/eval.json")});
  ASSERT_EQ(evaluated.code, 0) << evaluated.error;
  EXPECT_EQ(json_of("b/eval.json")["held_out"], read["held_out"]);
  EXPECT_THAT(evaluated.out, StartsWith("held-out expressions by depth:\n"));
}

TEST_F(Command, WritesPlainProgressLinesWhereThereIsNoTerminal) {
  const CommandResult result = train({"--out", path("run"), "--epochs", "2"});
  EXPECT_THAT(result.error, Not(HasSubstr("\r")));
  EXPECT_THAT(result.error, StartsWith("epoch 1/2: 60 of 60 (100%)"));
  EXPECT_THAT(result.error, HasSubstr("\nepoch 2/2: 60 of 60 (100%)"));
  EXPECT_THAT(result.out, HasSubstr("always answering the most common digit: "));
  EXPECT_THAT(result.out, HasSubstr("depth"));
}

TEST_F(Command, HelpAndVersionAreNoMistakes) {
  const auto said = [&](const std::vector<std::string>& arguments) {
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << arguments[0];
    EXPECT_THAT(result.error, IsEmpty());
    return result.out;
  };
  const std::string help = said({"--help"});
  EXPECT_THAT(help, HasSubstr("Usage: espalier "));
  EXPECT_THAT(help, HasSubstr("Exit codes: 0 success, 1 a file, data or memory, 2 the command line, 130 interrupted"));
  EXPECT_EQ(said({"help"}), help);
  EXPECT_EQ(said({"-h"}), help);
  EXPECT_THAT(said({"train", "--help"}), HasSubstr("Usage: espalier train "));
  EXPECT_EQ(said({"help", "train"}), said({"train", "--help"}));
  EXPECT_THAT(said({"train", "listops", "--help"}), HasSubstr("Usage: espalier train listops "));
  EXPECT_EQ(said({"help", "train", "listops"}), said({"train", "listops", "--help"}));
  EXPECT_THAT(said({"eval", "--help"}), HasSubstr("Usage: espalier eval "));
  EXPECT_THAT(said({"bench", "--help"}), HasSubstr("Usage: espalier bench "));
  const std::string version = said({"--version"});
  EXPECT_THAT(version, StartsWith("espalier "));
  EXPECT_EQ(said({"version"}), version);
  EXPECT_EQ(said({"-V"}), version);
}

TEST_F(Command, PrintsTheTableOfOpsAndThePageOfOne) {
  EXPECT_THAT(run({"ops"}).out, HasSubstr("| `tanh` |"));
  const CommandResult one = run({"ops", "tanh"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, StartsWith("# tanh\n\n    y = tanh(x)"));
  EXPECT_THAT(one.out, HasSubstr("\n- kind: map\n- inputs: x\n"));
  expect_refused_at_once(run({"ops", "tahn"}),
                         "there is no op \"tahn\"; did you mean \"tanh\"? (`espalier ops` prints all of them)", 2);
}

// --- the command line ------------------------------------------------------------------------------------------------

TEST_F(Command, RefusesUnknownWordsWithTheNearest) {
  expect_refused_at_once(run({"trian"}),
                         "espalier has no command \"trian\"; did you mean \"train\"? (see espalier --help)", 2);
  expect_refused_at_once(run({"help", "trian"}), "espalier has no command \"trian\"; did you mean \"train\"?", 2);
  expect_refused_at_once(run({"dance"}), "espalier has no command \"dance\"; there are \"train\", \"eval\", ", 2);
  expect_refused_at_once(
      run({"train", "list"}),
      "espalier train has no command \"list\"; did you mean \"listops\"? (see espalier train --help)", 2);
  expect_refused_at_once(run({"train", "listops", "--epoch", "3"}),
                         "espalier train listops has no option \"--epoch\"; did you mean \"--epochs\"? (see espalier "
                         "train listops --help)",
                         2);
  expect_refused_at_once(run({"train", "listops", "--epoch=3"}),
                         "espalier train listops has no option \"--epoch\"; did", 2);
  expect_refused_at_once(run({"train", "listops", "-x"}), "espalier train listops has no option \"-x\" (see", 2);
  expect_refused_at_once(run({"--versoin"}), "espalier has no option \"--versoin\"; did you mean \"--version\"?", 2);
  expect_refused_at_once(run({"train", "--label", "kind", "json"}),
                         "espalier train has no option \"--label\"; it belongs after a command, as in \"espalier train "
                         "json --label\" (see espalier train --help)",
                         2);
  expect_refused_at_once(run({"ops", "tanh", "exp"}),
                         "espalier ops takes no argument \"exp\" (see espalier ops --help)", 2);
  expect_refused_at_once(run({"train", "listops", "--ahead", "onn"}),
                         "--ahead: expected auto, on or off, found \"onn\"; did you mean \"on\"?", 2);
}

TEST_F(Command, RefusesWhatIsMissing) {
  expect_refused_at_once(
      run({}),
      "espalier needs a command: train, eval, predict, export, explain, data, ops, blocks, bench, completion (see "
      "espalier --help)",
      2);
  expect_refused_at_once(run({"train"}), "espalier train needs a command: listops, sentiment, ", 2);
  expect_refused_at_once(
      run({"eval"}), "eval: name the folder of a run, or with --weights the weights of `espalier train listops`", 2);
  expect_refused_at_once(run({"train", "listops", "--epochs"}),
                         "--epochs needs a value (see espalier train listops --help)", 2);
  expect_refused_at_once(run({"predict"}), "espalier predict needs RUN: the folder of ", 2);
  expect_refused_at_once(run({"data", "describe"}), "espalier data describe needs FILE: a file, plain or gzip, ", 2);
  expect_refused_at_once(run({"train", "listops", "--train-data", "x"}), "--train-data requires --held-out-data", 2);
}

TEST_F(Command, RefusesWhatIsTooMuch) {
  expect_refused_at_once(run({"train", "listops", "--seed", "1", "--seed", "2"}),
                         "--seed can be given only once (see espalier train listops --help)", 2);
  expect_refused_at_once(run({"train", "listops", "--resume=maybe"}),
                         "--resume takes no value (see espalier train listops --help)", 2);
  expect_refused_at_once(run({"eval", "run", "--weights", "file"}), "RUN and --weights exclude each other (see", 2);
}

TEST_F(Command, SaysHowWeightsOfListOpsAreEvaluated) {
  ASSERT_EQ(train({"--out", path("run")}).code, 0);
  const std::string weights = path("run/listops.safetensors");
  for (const std::string& given : {path("run"), weights})
    expect_refused_at_once(
        run({"eval", given}),
        "eval: this takes the weights of `espalier train listops` as an option: --weights " + weights, 2);
}

TEST_F(Command, RefusesNumbersOutOfRangeWithTheRange) {
  const auto refused = [&](const std::string& option, const std::string& value, const std::string& range) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{option, value}, {option + "=" + value}}) {
      std::vector<std::string> line{"train", "listops", "--out", path("run")};
      line.insert(line.end(), arguments.begin(), arguments.end());
      expect_refused_at_once(run(line), option + ": expected " + range + ", found \"" + value + "\" (see ", 2);
    }
  };
  for (const char* const option : {"--epochs", "--batch", "--max-tokens"})
    for (const char* const value : {"-1", "0", "many", "1.5", "2147483648", "99999999999999999999", "3x"})
      refused(option, value, "a whole number from 1 to 2147483647");
  for (const char* const option : {"--train", "--held-out"})
    for (const char* const value : {"-1", "0", "1e3", "1000000001"})
      refused(option, value, "a whole number from 1 to 1000000000");
  for (const char* const option : {"--hidden", "--embedding"})
    for (const char* const value : {"-4", "16385"}) refused(option, value, "a whole number from 1 to 16384");
  refused("--threads", "4096", "a whole number from 1 to 1024");
  refused("--warmup", "-1", "a whole number from 0 to 2147483647");
  refused("--seed", "-1", "a whole number from 0 to 18446744073709551615");
  for (const char* const option : {"--learning-rate", "--clip"})
    for (const char* const value : {"-1", "0", "nan", "inf", "1e999", "fast"})
      refused(option, value, "a number above 0");
  refused("--compare", "-0.5", "a number that is 0 or more");
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(Command, RefusesAnUnknownStrategyWithTheNearest) {
  expect_refused_at_once(run({"train", "listops", "--strategy", "fronteer"}),
                         "--strategy: there is no strategy \"fronteer\": the strategies are none, depth, agenda and "
                         "frontier; did you mean \"frontier\"?",
                         2);
}

TEST_F(Command, SaysThatABuildHasNoBenchmark) {
  fs::copy_file(ESPALIER_COMMAND, path("espalier"));
  const CommandResult result =
      testing::run_command(path("streams"), {"bench", "--short"}, {.program = path("espalier")});
  expect_refused_at_once(result, "this build has no benchmark: \"" + path("espalier-bench") + "\" does not exist", 2);
}

TEST_F(Command, RefusesAThreadCountThatIsNoNumber) {
  for (const char* const threads : {"many", "0", "-1", "1025", "2x"})
    expect_refused_at_once(train({"--out", path("run")}, {.threads = threads}), "ESPALIER_THREADS", 2);
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(Command, RefusesMoreExpressionsThanThereAre) {
  const CommandResult result = run({"train", "listops", "--max-tokens", "1", "--train", "20", "--out", path("run")});
  expect_refused(result, "", 2);
  EXPECT_FALSE(fs::exists(path("run/listops.safetensors")));
}

// --- files it reads --------------------------------------------------------------------------------------------------

TEST_F(Command, RefusesWeightsThatItCannotUse) {
  ASSERT_EQ(train({"--out", path("run")}).code, 0);
  const std::string whole = content_of(path("run/listops.safetensors"));
  const auto eval = [&](const std::string& weights) {
    return run({"eval", "--weights", weights, "--summary", path("summary.json")});
  };
  expect_refused_at_once(eval(path("none")), "cannot read \"" + path("none") + "\": No such file or directory");
  expect_refused_at_once(eval(path("run")), "");  // a folder

  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{100}, whole.size() / 2, whole.size() - 1})
    expect_refused_at_once(eval(write("damaged", whole.substr(0, size))), path("damaged") + ":");
  expect_refused_at_once(eval(write("damaged", whole + "x")), path("damaged") + ":");
  std::string flipped = whole;
  flipped[7] = '\x7f';  // a header of 2^63 bytes
  expect_refused_at_once(eval(write("damaged", flipped)), path("damaged") + ":");
  flipped = whole;
  flipped[8] = '[';
  expect_refused_at_once(eval(write("damaged", flipped)), path("damaged") + ":");
  expect_refused_at_once(eval(write("damaged", "words, not weights, and more of them")),
                         path("damaged") +
                             ": this is not a safetensors file: it begins with \"words, not weigh\", and "
                             "8 bytes of a length and \"{\" were expected");
  EXPECT_FALSE(fs::exists(path("summary.json")));
}

TEST_F(Command, RefusesWeightsWhoseSizesAreNotThoseOfTheTensors) {
  ASSERT_EQ(train({"--out", path("run")}).code, 0);
  std::string whole = content_of(path("run/listops.safetensors"));
  const std::size_t at = whole.find("\"hidden\":\"12\"");
  ASSERT_NE(at, std::string::npos);
  whole.replace(at, 13, "\"hidden\":\"99\"");
  expect_refused_at_once(run({"eval", "--weights", write("damaged", whole)}), path("damaged") + ":");
}

TEST_F(Command, ShowsTheRightNotationOfAnExpression) {
  ASSERT_EQ(train({"--out", path("run")}).code, 0);
  const std::string data = write("data.tsv", "9\t[MAX 2 9 [MIN 4 7] ]\n");
  expect_refused_at_once(
      run({"eval", "--weights", path("run/listops.safetensors"), "--data", data}),
      data + ":1:3: expected the tree in parentheses, ( ( ( ( [MAX 2 ) 9 ) ( ( ( [MIN 4 ) 7 ) ] ) ) ] ), not");
}

TEST_F(Command, NamesTheLineAndColumnOfBrokenData) {
  ASSERT_EQ(train({"--out", path("run"), "--write-data", path("data")}).code, 0);
  const std::string good = content_of(path("data/train.tsv"));
  const auto lines = static_cast<std::size_t>(std::count(good.begin(), good.end(), '\n'));
  const std::string place = path("broken.tsv") + ":" + std::to_string(lines + 1) + ":";
  fs::remove(path("run/listops.safetensors"));
  for (const char* const line : {"12\t3\n", "x\n", "3\n", "\xff\xfe\n", "3\t( 3\n", "4\t3\n"}) {
    write("broken.tsv", good + line);
    const CommandResult result =
        train({"--out", path("run"), "--train-data", path("broken.tsv"), "--held-out-data", path("data/held_out.tsv")});
    expect_refused_at_once(result, place);
    EXPECT_THAT(result.error, HasSubstr(": expected "));
    EXPECT_THAT(result.error, ::testing::ContainsRegex("broken.tsv:[0-9]+:[0-9]+: "));
  }
  EXPECT_THAT(files_in("run"), IsEmpty());
  expect_refused_at_once(
      train({"--out", path("run"), "--train-data", write("empty", ""), "--held-out-data", path("data/held_out.tsv")}),
      path("empty"));
  expect_refused_at_once(
      train({"--out", path("run"), "--train-data", path("none"), "--held-out-data", path("data/held_out.tsv")}),
      "cannot read \"" + path("none") + "\": No such file or directory");
}

// --- files it writes -------------------------------------------------------------------------------------------------

TEST_F(Command, RefusesAnOutputFolderThatCannotBe) {
  write("file", "mine");
  expect_refused_at_once(train({"--out", path("file")}),
                         "cannot make folder \"" + path("file") + "\": Not a directory");
  expect_refused_at_once(train({"--out", path("file/below")}),
                         "cannot make folder \"" + path("file/below") + "\": Not a directory");
  expect_refused_at_once(train({"--out", path("run"), "--summary", path("file/summary.json")}),
                         "cannot make folder \"" + path("file") + "\": Not a directory");
  expect_refused_at_once(train({"--out", path("run"), "--summary", path("run")}),
                         "cannot write \"" + path("run") + "\": Is a directory");
  expect_refused_at_once(train({"--out", path("run"), "--write-data", path("file")}),
                         "cannot make folder \"" + path("file") + "\": Not a directory");
  EXPECT_EQ(content_of(path("file")), "mine");
  EXPECT_THAT(files_in("run"), IsEmpty());
}

TEST_F(Command, RefusesAReadOnlyOutputFolder) {
  fs::create_directories(path("locked"));
  fs::permissions(path("locked"),
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const CommandOptions unprivileged{.unprivileged = true};
  if (run({"--version"}, unprivileged).code != 0) GTEST_SKIP() << "the command cannot be run as another user here";
  const CommandResult result = train({"--out", path("locked")}, unprivileged);
  expect_refused_at_once(result, "cannot write into folder \"" + path("locked") + "\": Permission denied");
  EXPECT_THAT(files_in("locked"), IsEmpty());
}

TEST_F(Command, AFullDiskLeavesNoHalfWrittenFile) {
  // The checkpoint does not fit; that folders can be written into shows before.
  const CommandResult result =
      train({"--out", path("run"), "--summary", path("run/summary.json")}, {.largest_file = 8192});
  expect_refused(result, "cannot write \"" + path("run/listops.run/checkpoint.safetensors") + "\": File too large");
  EXPECT_THAT(files_in("run"), IsEmpty());
  EXPECT_THAT(result.out, Not(HasSubstr("weights: ")));
  EXPECT_THAT(result.out, Not(HasSubstr("summary: ")));
}

TEST_F(Command, AFullDiskKeepsTheWeightsOfBefore) {
  ASSERT_EQ(train({"--out", path("run")}).code, 0);
  const std::string before = content_of(path("run/listops.safetensors"));
  EXPECT_EQ(train({"--out", path("run"), "--seed", "9"}, {.largest_file = 8192}).code, 1);
  EXPECT_THAT(files_in("run"), ElementsAre("listops.safetensors"));
  EXPECT_TRUE(before == content_of(path("run/listops.safetensors")));
}

TEST_F(Command, ADiskThatIsFullFromTheStartIsToldBeforeAnyWork) {
  expect_refused_at_once(train({"--out", path("run")}, {.largest_file = 1000}),
                         "cannot write into folder \"" + path("run") + "\": File too large");
  EXPECT_THAT(files_in("run"), IsEmpty());
}

TEST_F(Command, ASummaryThatDoesNotFitIsTold) {
  const CommandResult trained = train({"--out", path("run"), "--summary", "/dev/full"});
  expect_refused(trained, "cannot write \"/dev/full\": No space left on device");
  EXPECT_THAT(trained.out, Not(HasSubstr("summary: ")));
  expect_refused(run({"eval", "--weights", path("run/listops.safetensors"), "--summary", "/dev/full"}),
                 "cannot write \"/dev/full\": No space left on device");
}

TEST_F(Command, TellsThatItsOutputWasLost) {
  const CommandOptions full{.out_path = "/dev/full"};
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"ops"}, {"--help"}, {"--version"}, {"train", "listops", "--help"}})
    expect_refused_at_once(run(arguments, full), "cannot write to standard output");
  expect_refused(train({"--out", path("run")}, full), "cannot write to standard output");
}

TEST_F(Command, PrintsThePageOfABlockAndWritesAllPages) {
  EXPECT_THAT(run({"blocks", "fold"}).out, StartsWith("## fold\n\n`fold(combine, start)`: "));
  const CommandResult none = run({"blocks", "unfold"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.error, HasSubstr("there is no block \"unfold\""));
  expect_refused_at_once(run({"blocks", "mpa"}),
                         "there is no block \"mpa\"; did you mean \"map\"? (`espalier blocks` prints all of them)", 2);

  ASSERT_EQ(run({"blocks", "--pages", path("pages")}).code, 0);
  EXPECT_THAT(content_of(path("pages/fold.md")), StartsWith("# fold\n\n`fold(combine, start)`: "));
  EXPECT_THAT(content_of(path("pages/pipe.md")), StartsWith("# >>\n"));
  EXPECT_THAT(content_of(path("pages/README.md")), HasSubstr("- [map](map.md): `map(block)`: "));
  const std::string all = run({"blocks"}).out;
  std::size_t headings = 0;
  for (std::size_t at = all.find("\n## "); at != std::string::npos; at = all.find("\n## ", at + 1)) ++headings;
  EXPECT_EQ(files_in("pages").size(), headings + 1);  // and README.md
}

}  // namespace
}  // namespace espalier
