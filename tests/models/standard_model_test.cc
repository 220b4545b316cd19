/// The standard models with their data: they learn through the Trainer, come back from their folder with the same bits,
/// and answer in order.
#include "espalier/models/standard_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/models/model_of.h"
#include "tests/models/model_files.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

namespace fs = std::filesystem;
using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using StandardModels = testing::ModelFiles;

const std::string kTreebank =
    "(4 (2 It) (4 (2 is) (4 good)))\n(0 (2 It) (0 (2 is) (0 bad)))\n(0 (1 not) (4 good))\n(4 (1 not) (0 bad))\n"
    "(2 (2 It) (2 is))\n(4 good)\n(3 (2 It) (2 is) (3 fine))\n";

TEST_F(StandardModels, LearnSentiment) {
  const auto metrics = learn("sentiment", {{{write("trees.txt", kTreebank)}, {}, {}}},
                             {{"embedding", "8"}, {"hidden", "12"}, {"dropout", "0"}}, 60, kTreebank, false, 7);
  EXPECT_EQ(metrics[0].name, "accuracy");
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_THAT(last_answers_[0], HasSubstr(R"("class":"very positive")"));
}

TEST_F(StandardModels, LearnSentimentOfTwoClassesWithoutNeutralTrees) {
  // Without "not": in a tree GRU each child adds its share, and none turns the other round.
  const std::string trees =
      "(4 (2 It) (4 (2 is) (4 good)))\n(0 (2 It) (0 (2 is) (0 bad)))\n(2 (2 It) (2 is))\n(4 good)\n"
      "(3 (2 It) (2 is) (3 fine))\n";
  const auto metrics =
      learn("sentiment", {{{write("trees.txt", trees)}, {}, {}}},
            {{"embedding", "8"}, {"hidden", "12"}, {"dropout", "0"}, {"classes", "2"}, {"cell", "tree_gru"}}, 60,
            R"json({"tree": "(4 (2 It) (4 (2 is) (4 good)))"})json", true, 1);
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_THAT(last_answers_[0], HasSubstr(R"("class":"positive")"));
}

const std::string kColumns =
    "Ann B-PER\nLee I-PER\nlives O\nin O\nRome B-LOC\n\nRome B-LOC\ncalls O\nAnn B-PER\n\nno O\none O\n\n";

TEST_F(StandardModels, LearnToTagNames) {
  const auto metrics = learn("tagger", {{{write("names.conll", kColumns)}, {}, {}}},
                             {{"embedding", "8"}, {"hidden", "8"}, {"dropout", "0"}, {"min_count", "1"}}, 60,
                             R"({"words": ["Ann", "lives", "in", "Rome"]})", true, 1);
  EXPECT_EQ(metrics[0].name, "f1");
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_THAT(last_answers_[0], HasSubstr(R"("tags":["B-PER","O","O","B-LOC"])"));
  EXPECT_THAT(last_answers_[0], HasSubstr(R"({"begin":3,"end":4,"type":"LOC","text":"Rome"})"));
}

TEST_F(StandardModels, LearnToTagPartsOfSpeechFromConllU) {
  const std::string text =
      "1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tworks\twork\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
      "1\tDogs\tdog\tNOUN\tNNS\t_\t0\troot\t_\t_\n\n";
  for (const std::string characters : {"rare", "none"}) {
    const auto metrics = learn("tagger", {{{write("words.conllu", text)}, {}, {}}},
                               {{"embedding", "8"},
                                {"hidden", "8"},
                                {"dropout", "0"},
                                {"crf", "false"},
                                {"characters", characters},
                                {"min_count", "1"},
                                {"format", "conllu"}},
                               60, text, false, 2);
    EXPECT_EQ(metrics[0].name, "accuracy");
    EXPECT_EQ(metrics[0].value, 1);
  }
}

TEST_F(StandardModels, LearnClassesAndNumbersFromJson) {
  std::string classes;
  std::string numbers;
  for (int i = 0; i < 24; ++i) {
    const std::string fields =
        R"("a": )" + std::to_string(i % 3) + R"(, "b": {"c": "k)" + std::to_string(i % 4) + "\"}";
    classes += "{" + fields + R"(, "y": ")" + (i % 3 == 0 && i % 4 < 2 ? "yes" : "no") + "\"}\n";
    numbers += "{" + fields + R"(, "y": )" + std::to_string(1.5 + i % 3 + 2 * (i % 4)) + "}\n";
  }
  const std::vector<std::pair<std::string, std::string>> settings{{"label", "y"}, {"hidden", "16"}, {"dropout", "0"}};
  auto metrics = learn("json", {{{write("classes.jsonl", classes)}, {}, {}}}, settings, 40,
                       R"({"a": 0, "b": {"c": "k1"}})", true, 1);
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_THAT(last_answers_[0], HasSubstr(R"("class":"yes")"));
  metrics = learn("json", {{{write("numbers.jsonl", numbers)}, {}, {}}}, settings, 80, numbers, true, 24);
  EXPECT_EQ(metrics[0].name, "rmse");
  EXPECT_LT(metrics[0].value, 0.4);
}

TEST_F(StandardModels, LearnJsonNumbersOfAnySizeWithoutDividingGroups) {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += R"({"id": )" + std::to_string(i % 10) + R"(, "x": )" + std::to_string(i % 10) + R"(, "time": )" +
             std::to_string(std::exp(i % 10)) + "}\n";
  const auto metrics = learn("json", {{{write("times.jsonl", lines)}, {}, {}}},
                             {{"label", "time"}, {"hidden", "16"}, {"dropout", "0"}}, 60, lines, true, 40);
  EXPECT_EQ(metrics[0].name, "q_error_mean");
  EXPECT_LT(metrics[1].value, 1.5);
  const auto model = make("json");
  model->settings().at("label").assign_text("time");
  model->settings().at("group").assign_text("id");
  model->settings().at("held_out").assign(Value(0.3));
  model->read_data({{{folder_ / "times.jsonl"}, {}, {}}});
  model->build(1);
  EXPECT_EQ(model->size(train::Split::kHeldOut), 12);
  for (std::int64_t i = 0; i < 28; ++i)
    for (std::int64_t j = 0; j < 12; ++j)
      EXPECT_NE(model->text(train::Split::kTrain, i), model->text(train::Split::kHeldOut, j));
}

TEST_F(StandardModels, FindDataByTheNamesOfFiles) {
  write("data/en-train.txt", "x");
  write("data/en-dev.txt", "x");
  write("data/README", "x");
  const DataPlaces places = find_data(folder_ / "data");
  EXPECT_THAT(places[0], ElementsAre(folder_ / "data" / "en-train.txt"));
  EXPECT_THAT(places[1], ElementsAre(folder_ / "data" / "en-dev.txt"));
  EXPECT_TRUE(places[2].empty());
  EXPECT_THAT(find_data(folder_ / "data" / "README")[0], ElementsAre(folder_ / "data" / "README"));
  write("data/fr-train.txt", "x");
  EXPECT_THAT(refusal_of<UsageError>([&] { find_data(folder_ / "data"); }),
              HasSubstr("several entries could be the training data: en-train.txt, fr-train.txt"));
  EXPECT_THAT(refusal_of<ResourceError>([&] { find_data(folder_ / "none"); }), HasSubstr("there is no such file"));
  write("untrained/dev.txt", "x");
  EXPECT_THAT(refusal_of<UsageError>([&] { find_data(folder_ / "untrained"); }),
              HasSubstr("no file or folder there has \"train\" in its name"));
  write("parts/a.txt", "x");
  EXPECT_THAT(find_data(folder_ / "parts")[0], ElementsAre(folder_ / "parts"));
  EXPECT_THAT(refusal_of<UsageError>([&] { make("tagger")->read_data(find_data(folder_ / "parts")); }),
              HasSubstr("parts: expected a file, or a folder with \"train\" in the name of a file there"));
}

TEST_F(StandardModels, KeepGroupsTogetherWhenDataAreDivided) {
  std::vector<std::string> groups;
  for (int i = 0; i < 100; ++i) groups.push_back("g" + std::to_string(i / 4));
  const std::vector<train::Split> splits = split_by_group(groups, {.held_out = 0.2, .test = 0.2, .seed = 5});
  EXPECT_EQ(std::count(splits.begin(), splits.end(), train::Split::kHeldOut), 20);
  EXPECT_EQ(std::count(splits.begin(), splits.end(), train::Split::kTest), 20);
  for (std::size_t i = 0; i < groups.size(); ++i) EXPECT_EQ(splits[i], splits[i / 4 * 4]);
  EXPECT_NE(split_by_group(groups, {.held_out = 0.2, .test = 0, .seed = 6}), splits);
  EXPECT_EQ(refusal_of([] { split_by_group(std::vector<std::string>{"a"}, {.held_out = 0.9, .test = 0, .seed = 1}); }),
            "1 training records are too few to set others apart");
}

TEST_F(StandardModels, RefuseWhatIsNoModelByName) {
  EXPECT_THAT(refusal_of<UsageError>([] { make("sentimant"); }), HasSubstr("did you mean \"sentiment\"?"));
  EXPECT_THAT(refusal_of<ResourceError>([&] { load(folder_); }), HasSubstr("model.json"));
  write("model.json", R"({"format": 1, "model": "json"})");
  EXPECT_THAT(refusal_of<DataError>([&] { load(folder_); }), HasSubstr("this does not describe a model"));
  const auto model = make("json");
  EXPECT_THAT(refusal_of<UsageError>([&] { model->settings().at("hiden"); }), HasSubstr("did you mean \"hidden\"?"));
  EXPECT_THAT(refusal_of<UsageError>([&] { model->settings().at("hidden").assign_text("0"); }),
              HasSubstr("setting \"hidden\" takes a whole number from 1 to 4096, and 0 was given"));
  EXPECT_THAT(refusal_of<DataError>([&] {
                model->read_data({{{write("empty.jsonl", "")}, {}, {}}});
              }),
              HasSubstr("empty.jsonl: expected training data, and there are none"));
}

TEST_F(StandardModels, SkipDamagedRecordsAndCountThem) {
  const auto model = make("sentiment");
  const fs::path trees = write("trees.txt", kTreebank + "(3 (2 broken)\n");
  EXPECT_THAT(refusal_of<DataError>([&] { model->read_data({{{trees}, {}, {}}}); }), HasSubstr("trees.txt:8:"));
  const data::ReadReport report = model->read_data({{{trees}, {}, {}}}, {.skip_damaged = true});
  EXPECT_EQ(report.damaged, 1);
  EXPECT_EQ(report.records, 7);
}

}  // namespace
}  // namespace espalier::models
