/// The commands on standard models: train, eval, predict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/models/standard_model.h"
#include "tests/cli/run_command.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::content_of;
using ::testing::HasSubstr;

class ModelCommands : public ::testing::Test {
 protected:
  ModelCommands() { fs::create_directories(folder_ / "streams"); }
  ~ModelCommands() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  CommandResult run(const std::vector<std::string>& arguments) const {
    return testing::run_command(folder_ / "streams", arguments);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return path(name);
  }
  /// Records whose label follows from one field.
  std::string records(const std::string& name, int count, const std::string& more = "") const {
    std::string lines;
    for (int i = 0; i < count; ++i)
      lines += R"({"kind": "k)" + std::to_string(i % 3) + R"(", "n": )" + std::to_string(i) + R"(, "y": ")" +
               (i % 3 == 0 ? "yes" : "no") + "\"}\n";
    return write(name, lines + more);
  }

  fs::path folder_ = fs::temp_directory_path() / ("model_commands_" + std::to_string(::getpid()));
};

TEST_F(ModelCommands, TrainEvaluateAndPredict) {
  const std::string data = records("train.jsonl", 60);
  const CommandResult trained = run({"train", "json", "--data", data, "--label", "y", "--out", path("run"), "--epochs",
                                     "6", "--hidden", "8", "--dropout", "0", "--optimizer", "adam(lr=0.03)"});
  EXPECT_EQ(trained.code, 0) << trained.error;
  EXPECT_THAT(trained.out, HasSubstr("54 training, 6 held-out and 0 test records"));
  EXPECT_THAT(trained.out, HasSubstr("held_out: accuracy 1.0000"));

  const CommandResult evaluated = run({"eval", path("run"), "--data", data, "--summary", path("summary.json")});
  EXPECT_EQ(evaluated.code, 0) << evaluated.error;
  EXPECT_THAT(evaluated.out, HasSubstr("test: accuracy 1.0000"));
  EXPECT_EQ(nlohmann::json::parse(content_of(path("summary.json")))["records"], 60);

  const CommandResult explained = run({"explain", path("run"), "--data", data, "--records", "8"});
  EXPECT_EQ(explained.code, 0) << explained.error;
  EXPECT_THAT(explained.out, HasSubstr("8 records of "));
  EXPECT_THAT(explained.out, HasSubstr("steps"));
  const CommandResult of_training = run({"explain", path("run"), "--data", data, "--training", "--nodes"});
  EXPECT_EQ(of_training.code, 0) << of_training.error;
  EXPECT_THAT(of_training.out, HasSubstr("gradients"));
  EXPECT_THAT(of_training.out, HasSubstr("32 instances"));

  const CommandResult predicted = run({"predict", path("run"), records("new.jsonl", 150), "--batch", "16"});
  EXPECT_EQ(predicted.code, 0) << predicted.error;
  std::istringstream lines(predicted.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_EQ(nlohmann::json::parse(line)["class"], count % 3 == 0 ? "yes" : "no") << "in the order of the records";
  EXPECT_EQ(count, 150);
}

TEST_F(ModelCommands, HaveHelpWithAnExampleOfOptionsThatThereAre) {
  for (const std::string_view model : models::names()) {
    const CommandResult help = run({"train", std::string(model), "--help"});
    EXPECT_EQ(help.code, 0);
    const std::string begin = "Example: espalier train " + std::string(model) + " --data";
    const std::size_t at = help.out.find(begin);
    ASSERT_NE(at, std::string::npos) << model;
    std::istringstream example(help.out.substr(at, help.out.find('\n', at) - at));
    for (std::string word; example >> word;)
      if (word.starts_with("--")) {
        EXPECT_THAT(help.out.substr(0, at), HasSubstr("  " + word + " ")) << model;
      }
  }
}

TEST_F(ModelCommands, ExplainDrawsPagesPicturesAndTimelines) {
  const std::string trees = write("trees.txt", "(3 (1 not) (1 (2 very) (0 bad)))\n(1 (2 too) (1 long))\n(2 film)\n");
  const CommandResult trained =
      run({"train", "sentiment", "--data", trees, "--out", path("run"), "--epochs", "2", "--held-out", "0.34",
           "--hidden", "8", "--embedding", "8", "--trace", path("training.json")});
  ASSERT_EQ(trained.code, 0) << trained.error;
  EXPECT_THAT(trained.out, HasSubstr("trace: " + path("training.json")));
  std::set<std::string> kinds;
  const nlohmann::json timeline = nlohmann::json::parse(content_of(path("training.json")));
  for (const auto& event : timeline["traceEvents"])
    if (event["ph"] == "X") kinds.insert(event["cat"]);
  for (const char* kind : {"recording", "waiting for values", "scheduling", "kernels", "backward kernels", "update"})
    EXPECT_EQ(kinds.count(kind), 1U) << kind;

  // A page of several inputs: those of a trained model, and of one that was not.
  const std::string more = write("more.txt", "(2 (2 a) (2 film))\n");
  for (const std::string& model : {path("run"), std::string("sentiment")}) {
    const CommandResult page =
        run({"explain", model, trees, more, "-o", path("page.html"), "--text", "--trace", path("trace.json")});
    EXPECT_EQ(page.code, 0) << page.error;
    EXPECT_THAT(page.out, HasSubstr("of 4 instances in"));
    EXPECT_THAT(page.out, HasSubstr("frontier"));
    EXPECT_THAT(content_of(path("page.html")), HasSubstr("4 inputs of the model sentiment"));
    EXPECT_FALSE(nlohmann::json::parse(content_of(path("trace.json")))["traceEvents"].empty());
  }
  const CommandResult picture = run({"explain", "sentiment", trees, "--svg"});
  EXPECT_EQ(picture.code, 0) << picture.error;
  EXPECT_THAT(picture.out, HasSubstr("not very bad</text>"));
  EXPECT_EQ(run({"explain", "sentiment", trees, "-o", path("moving.svg"), "--animate"}).code, 0);
  EXPECT_THAT(content_of(path("moving.svg")), HasSubstr("@keyframes"));
  // The whole tree is one node where it is recorded as rows.
  const CommandResult rows = run({"explain", "sentiment", trees, "--form", "rows", "--text"});
  EXPECT_THAT(rows.out, HasSubstr("3 ("));
  EXPECT_NE(run({"explain", "nonsense", trees}).code, 0);
  EXPECT_NE(run({"explain", path("run")}).code, 0);
  EXPECT_NE(run({"explain", path("run"), trees, "-o", path("missing/page.html")}).code, 0);
}

TEST_F(ModelCommands, RepeatARunFromItsFile) {
  const std::string data = records("train.jsonl", 40);
  ASSERT_EQ(
      run({"train", "json", "--data", data, "--label", "y", "--out", path("first"), "--epochs", "2", "--hidden", "6"})
          .code,
      0);
  const CommandResult again = run({"train", "json", "--config", path("first/run.json"), "--out", path("second")});
  EXPECT_EQ(again.code, 0) << again.error;
  EXPECT_EQ(content_of(path("first/weights.safetensors")), content_of(path("second/weights.safetensors")));
  EXPECT_EQ(content_of(path("first/model.json")), content_of(path("second/model.json")));
}

TEST_F(ModelCommands, TagCharactersWithoutTheLexiconOfTheirTraining) {
  fs::create_directories(folder_ / "names");
  std::string sentences;
  for (int i = 0; i < 10; ++i) sentences += "南 B-LOC\n京 E-LOC\n市 O\n\n人 O\n市 O\n\n";
  for (const std::string part : {"train", "dev", "test"}) write("names/" + part + ".bmes", sentences);
  const std::string lexicon = write("lexicon.txt", "南京 10 ns\n");
  const CommandResult trained =
      run({"train", "lattice", "--data", path("names"), "--lexicon", lexicon, "--out", path("run"), "--epochs", "10",
           "--embedding", "8", "--hidden", "8", "--dropout", "0", "--optimizer", "adam(lr=0.03)"});
  EXPECT_EQ(trained.code, 0) << trained.error;
  EXPECT_THAT(trained.out, HasSubstr("test: f1 1.0000"));
  fs::remove(lexicon);
  const CommandResult predicted = run({"predict", path("run"), write("new.jsonl", "{\"text\": \"南京人\"}\n")});
  EXPECT_EQ(predicted.code, 0) << predicted.error;
  EXPECT_EQ(nlohmann::json::parse(predicted.out)["spans"][0]["text"], "南京");

  // A line that is JSON, and no sentence.
  const std::string odd = write("odd.jsonl", "{\"text\": \"南京人\"}\n{\"text\": 3}\n{\"text\": \"人市\"}\n");
  const CommandResult refused = run({"predict", path("run"), odd});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.error, HasSubstr("odd.jsonl:2"));
  const CommandResult skipped = run({"predict", path("run"), odd, "--skip-damaged"});
  EXPECT_EQ(skipped.code, 0) << skipped.error;
  EXPECT_THAT(skipped.error, HasSubstr("2 records read, 1 damaged left out"));
  EXPECT_EQ(std::count(skipped.out.begin(), skipped.out.end(), '\n'), 2);
}

TEST_F(ModelCommands, PredictRunTimesOfPlansFromStandardInputOrFiles) {
  std::string plans;
  for (int i = 1; i <= 12; ++i)
    plans += R"({"query": ")" + std::to_string(i) + R"(", "Plan": {"Node Type": "Seq Scan", "Plan Rows": )" +
             std::to_string(i * i) + R"(, "Plan Width": 8, "Startup Cost": 0, "Total Cost": )" + std::to_string(2 * i) +
             R"(, "Actual Total Time": )" + std::to_string(i) + R"(}, "Execution Time": )" + std::to_string(i) + "}\n";
  const std::string data = write("plans.jsonl", plans);
  const CommandResult described = run({"data", "describe", data});
  EXPECT_THAT(described.out, HasSubstr("fits the model: plans"));
  // Without held-out data nothing is to be waited for: the default of --patience does not count.
  const CommandResult trained = run({"train", "plans", "--data", data, "--held-out", "0", "--out", path("run"),
                                     "--epochs", "40", "--hidden", "8", "--optimizer", "adam(lr=0.02)"});
  EXPECT_EQ(trained.code, 0) << trained.error;
  const CommandResult evaluated = run({"eval", path("run"), "--data", data});
  EXPECT_THAT(evaluated.out, HasSubstr("q_error_median"));
  const std::string printed = write("plan.json",
                                    "[\n  {\"Plan\": {\"Node Type\": \"Seq Scan\", \"Plan Rows\": 9,\n"
                                    "\"Plan Width\": 8, \"Startup Cost\": 0, \"Total Cost\": 6}}\n]\n");
  const CommandResult predicted = run({"predict", path("run"), printed, data});
  EXPECT_EQ(predicted.code, 0) << predicted.error;
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 13);
  EXPECT_THAT(predicted.out, HasSubstr("{\"milliseconds\":"));
}

TEST_F(ModelCommands, SayWhatIsWrong) {
  const std::string damaged = records("damaged.jsonl", 20, "{\"y\": }\n");
  const CommandResult refused = run({"train", "json", "--data", damaged, "--label", "y", "--out", path("run")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.error, HasSubstr("damaged.jsonl:21:7: expected"));
  const CommandResult skipped = run({"train", "json", "--data", damaged, "--label", "y", "--out", path("run"),
                                     "--epochs", "1", "--hidden", "4", "--skip-damaged"});
  EXPECT_EQ(skipped.code, 0) << skipped.error;
  EXPECT_THAT(skipped.error, HasSubstr("1 damaged left out"));
  const CommandResult no_data = run({"train", "json", "--label", "y", "--out", path("none")});
  EXPECT_EQ(no_data.code, 2);
  EXPECT_THAT(no_data.error, HasSubstr("--data must name a folder or a file of training data"));
  const CommandResult no_choice = run({"train", "sentiment", "--data", damaged, "--cell", "lstm"});
  EXPECT_EQ(no_choice.code, 2);
  EXPECT_THAT(no_choice.error, HasSubstr("setting \"cell\" takes one of tree_lstm, tree_gru, tree_rnn, mv_rnn"));
  const CommandResult no_run = run({"predict", path("nowhere")});
  EXPECT_EQ(no_run.code, 1);
  EXPECT_THAT(no_run.error, HasSubstr("model.json"));
}

}  // namespace
}  // namespace espalier
