/// The models "relatedness" and "lattice" with their data: folders, tables, JSON lines, columns and a lexicon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "tests/models/model_files.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

namespace fs = std::filesystem;
using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using PairAndLatticeModels = testing::ModelFiles;

/// A folder in the layout of parsed SICK, in which every sentence has three words, and the second is the root.
struct SickFiles {
  std::string a, b, scores, ids;

  void add(const std::string& a_sentence, const std::string& b_sentence, const std::string& score) {
    a += a_sentence + "\n";
    b += b_sentence + "\n";
    scores += score + "\n";
    ids += std::to_string(1 + std::count(ids.begin(), ids.end(), '\n')) + "\n";
  }
  std::string lines_of(const std::string& line) const {
    std::string all;
    for (auto pair = std::count(ids.begin(), ids.end(), '\n'); pair > 0; --pair) all += line + "\n";
    return all;
  }
};

SickFiles sick_files() {
  SickFiles files;
  for (const std::string animal : {"dogs", "cats", "birds"}) {
    files.add("two " + animal + " sleep", "Two " + animal + " rest", "4.5");
    files.add("no " + animal + " sleep", "two " + animal + " eat", "1.5");
    files.add("two " + animal + " sleep", "two " + animal + " eat", "3");
  }
  return files;
}

TEST_F(PairAndLatticeModels, LearnHowRelatedParsedSentencesAre) {
  const SickFiles files = sick_files();
  for (const std::string part : {"sick/train/", "sick/dev/", "sick/test/"}) {
    write(part + "a.toks", files.a);
    write(part + "b.toks", files.b);
    for (const std::string sentence : {"a", "b"}) {
      write(part + sentence + ".parents", files.lines_of("2 0 2"));
      write(part + sentence + ".rels", files.lines_of("det root dobj"));
    }
    write(part + "sim.txt", files.scores);
    write(part + "id.txt", files.ids);
  }
  const DataPlaces places = find_data(folder_ / "sick");
  EXPECT_THAT(places[2], ElementsAre(folder_ / "sick" / "test"));
  const std::vector<std::pair<std::string, std::string>> settings{
      {"embedding", "8"}, {"hidden", "12"}, {"similarity", "8"}};
  const std::string asked = R"({"a": {"words": ["two", "dogs", "sleep"], "heads": [2, 0, 2]}, )"
                            R"("b": {"words": ["two", "dogs", "rest"], "heads": [2, 0, 2]}})";
  const auto metrics = learn("relatedness", places, settings, 120, asked, true, 1);
  EXPECT_EQ(metrics[0].name, "pearson");
  EXPECT_GT(metrics[0].value, 0.98);
  EXPECT_EQ(metrics[1].name, "spearman");
  EXPECT_EQ(metrics[2].name, "mse");
  EXPECT_FALSE(metrics[2].higher_is_better);
  const Value answer = data::parse_json(last_answers_[0]);
  EXPECT_NEAR(answer.at("score").as_float(), 4.5, 0.3);
  double sum = 0;
  for (const Value& probability : answer.at("probabilities").items()) sum += probability.as_float();
  EXPECT_NEAR(sum, 1, 1e-5);

  // A folder of one part is the data itself, in training, evaluation and prediction.
  EXPECT_THAT(find_data(folder_ / "sick" / "train")[0], ElementsAre(folder_ / "sick" / "train"));
  const std::unique_ptr<StandardModel> trained = load(folder_ / "run");
  EXPECT_EQ(trained->read_test(folder_ / "sick" / "dev").records, 9);
  EXPECT_GT(train::evaluate(*trained, train::Split::kTest).metrics[0].value, 0.98);
  std::int64_t answered = 0;
  trained->predict(data::Input(folder_ / "sick" / "dev"), {}, [&](const Value&) { ++answered; });
  EXPECT_EQ(answered, 9);
}

TEST_F(PairAndLatticeModels, LearnHowRelatedUnparsedSentencesAre) {
  const std::string header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n";
  const fs::path table = write("SICK_train.txt", header +
                                                     "1\tTwo dogs sleep.\tTwo dogs rest.\t4.5\tENTAILMENT\n"
                                                     "2\tNo dogs sleep.\tTwo dogs rest.\t1.5\tCONTRADICTION\n"
                                                     "3\tDogs eat.\tTwo dogs rest.\t3.0\tNEUTRAL\n");
  const auto metrics = learn("relatedness", {{{table}, {}, {}}},
                             {{"embedding", "8"}, {"hidden", "12"}, {"similarity", "8"}, {"trees", "false"}}, 120,
                             R"({"a": "Two dogs sleep.", "b": {"words": ["two", "dogs", "rest", "."]}})", true, 1);
  EXPECT_GT(metrics[0].value, 0.98);
  EXPECT_NEAR(data::parse_json(last_answers_[0]).at("score").as_float(), 4.5, 0.3);
  EXPECT_THAT(refusal_of<DataError>([&] {
                make("relatedness")->read_data({{{table}, {}, {}}});
              }),
              HasSubstr("the sentences of this table have no dependencies"));
}

TEST_F(PairAndLatticeModels, RefusePairsWithoutWordsHeadsOrScores) {
  const auto refusal = [&](const std::string& a, const std::string& score) {
    return refusal_of<DataError>([&] {
      const auto model = make("relatedness");
      model->settings().at("held_out").assign(Value(0));
      model->read_data(
          {{{write("pairs.jsonl", R"({"a": )" + a + R"(, "b": {"words": ["x"], "heads": [0]})" + score + "}\n")},
            {},
            {}}});
      model->build(1);
    });
  };
  EXPECT_THAT(refusal(R"({"words": ["x", "y"], "heads": [0]})", ""), HasSubstr("there are 2 words and 1 heads"));
  EXPECT_THAT(refusal(R"({"words": [], "heads": []})", ""), HasSubstr("pairs.jsonl:1: a sentence has no words"));
  EXPECT_THAT(refusal(R"({"words": ["x"], "heads": [2]})", ""), HasSubstr("expected a head from 0 to 1, not 2"));
  EXPECT_THAT(refusal(R"({"words": ["x", "y"], "heads": [0, 0]})", ""), HasSubstr("expected one root"));
  EXPECT_THAT(refusal(R"({"words": ["x"]})", ""), HasSubstr("heads"));
  EXPECT_THAT(refusal(R"({"words": ["x"], "heads": [0]})", ""), HasSubstr("expected a score from 1 to 5, not none"));
  EXPECT_THAT(refusal(R"({"words": ["x"], "heads": [0]})", R"(, "score": 5.5)"),
              HasSubstr("pair " + (folder_ / "pairs.jsonl").string() + ":1: expected a score from 1 to 5, not 5.5"));
}

const std::string kCharacters =
    "南 B-LOC\n京 E-LOC\n市 O\n\n北 B-LOC\n京 E-LOC\n人 O\n\n南 O\n人 O\n京 O\n\n北 O\n市 O\n\n";

TEST_F(PairAndLatticeModels, LearnToTagCharactersWithALexicon) {
  const std::string lexicon = write("words.txt", "南京 10 ns\n北京 20 ns\n上海 5 ns\n京 3 n\n").string();
  for (const std::string merge : {"gates", "sum"}) {
    const auto metrics =
        learn("lattice", {{{write("names.bmes", kCharacters)}, {}, {}}},
              {{"lexicon", lexicon}, {"merge", merge}, {"embedding", "8"}, {"hidden", "8"}, {"dropout", "0"}}, 60,
              "{\"text\": \"北京 市\"}\n{\"words\": [\"上\", \"南\", \"京\"]}\n", true, 2);
    EXPECT_EQ(metrics[0].name, "f1");
    EXPECT_EQ(metrics[0].value, 1);
    EXPECT_THAT(last_answers_[0], HasSubstr(R"("words":["北","京","市"],"tags":["B-LOC","E-LOC","O"])"));
    EXPECT_THAT(last_answers_[0], HasSubstr(R"({"begin":0,"end":2,"type":"LOC","text":"北京"})"));
    const Value saved = data::read_json(folder_ / "run" / "model.json").at("facts");
    EXPECT_EQ(saved.at("words").to_text(), R"(["南京","北京"])") << "those of training data, of two characters or more";
  }
}

TEST_F(PairAndLatticeModels, ReadCharactersWithPlacesAndNeedALexicon) {
  const auto model = make("lattice");
  model->settings().at("drop_places").assign(Value(true));
  model->settings().at("held_out").assign(Value(0));
  model->read_data({{{write("weibo.conll", "南0\tB-LOC\n京1\tI-LOC\n20\tO\n\n")}, {}, {}}});
  EXPECT_EQ(refusal_of<UsageError>([&] { model->build(1); }),
            "lattice: the setting \"lexicon\" must name a file of words");
  model->settings().at("lexicon").assign_text(write("words.txt", "不在\n").string());
  model->build(1);
  EXPECT_THAT(model->describe(), HasSubstr("3 characters that occur at least 1 times, 0 words of the lexicon"));
  EXPECT_EQ(model->text(train::Split::kTrain, 0), "南京2");
  EXPECT_THAT(answers(*model, R"({"text": "南京"})", true)[0], HasSubstr(R"("words":["南","京"])"));
  EXPECT_THAT(refusal_of<DataError>([&] { answers(*model, R"({"text": " "})", true); }),
              HasSubstr("\"text\" is empty"));
}

}  // namespace
}  // namespace espalier::models
