/// The model "parser": it learns trees by heart, by both oracles, alone and batched alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/control/run_batched.h"
#include "espalier/models/parser_net.h"
#include "tests/models/model_files.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using ::testing::HasSubstr;
using testing::ModelFiles;

class ParserModel : public ModelFiles {
 protected:
  static std::string word(int id, const std::string& form, int head, const std::string& label) {
    const std::string number = std::to_string(id);
    return number + "\t" + form + "\t_\t_\t_\t_\t" + std::to_string(head) + "\t" + label + "\t_\t_\n";
  }
  /// "Ann sees Rome today", "dogs bark", and a sentence with arcs that cross.
  static std::string sentences(bool crossing) {
    std::string text = word(1, "Ann", 2, "nsubj") + word(2, "sees", 0, "root") + word(3, "Rome", 2, "obj") +
                       word(4, "today", 2, "obl:tmod") + "\n" + word(1, "Dogs", 2, "nsubj") +
                       word(2, "bark", 0, "root") + "\n" + word(1, "Look", 0, "root") + "\n";
    if (crossing)
      text += word(1, "A", 2, "det") + word(2, "hearing", 3, "nsubj") + word(3, "is", 0, "root") +
              word(4, "scheduled", 3, "xcomp") + word(5, "on", 2, "nmod") + word(6, "it", 5, "obj") + "\n";
    return text;
  }
  using Settings = std::vector<std::pair<std::string, std::string>>;
  static Settings small(Settings more) {
    Settings settings{{"embedding", "8"}, {"affix_embedding", "4"}, {"hidden", "8"},   {"layers", "1"},
                      {"middle", "16"},   {"dropout", "0"},         {"min_count", "1"}};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }
};

TEST_F(ParserModel, LearnsByTheStaticOracle) {
  const auto metrics = learn("parser", {{{write("a.conllu", sentences(false))}, {}, {}}}, small({}), 60,
                             R"({"words": ["Ann", "sees", "Rome", "today"]})", true, 1);
  EXPECT_EQ(metrics[0].name, "las");
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_EQ(metrics[1].name, "uas");
  EXPECT_THAT(last_answers_[0], HasSubstr(R"("heads":[2,0,2,2],"labels":["nsubj","root","obj","obl:tmod"])"));
}

TEST_F(ParserModel, LearnsByTheDynamicOracle) {
  const auto metrics =
      learn("parser", {{{write("a.conllu", sentences(false))}, {}, {}}},
            small({{"oracle", "dynamic"}, {"explore", "0.3"}, {"subtypes", "false"}}), 80, sentences(false), false, 3);
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_THAT(last_answers_[0], HasSubstr(R"("labels":["nsubj","root","obj","obl"])"));
}

/// The lifted arc is counted as wrong.
TEST_F(ParserModel, LearnsATreeThatIsNotProjectiveWithoutItsCrossingArc) {
  const auto metrics =
      learn("parser", {{{write("a.conllu", sentences(true))}, {}, {}}}, small({}), 80, sentences(true), false, 4);
  EXPECT_NEAR(metrics[1].value, 12.0 / 13, 1e-9);
}

TEST_F(ParserModel, RefusesWhatIsNoTree) {
  const auto read = [&](const std::string& text) {
    const auto model = make("parser");
    model->settings().at("held_out").assign(Value(0));
    model->read_data({{{write("a.conllu", text)}, {}, {}}});
    model->build(1);
  };
  const auto refusal = [&](const std::string& text) {
    return espalier::testing::refusal_of<DataError>([&] { read(text); });
  };
  EXPECT_THAT(refusal(word(1, "a", 0, "root") + word(2, "b", 0, "root") + "\n"), HasSubstr("one root is expected"));
  EXPECT_THAT(refusal(word(1, "a", 0, "root") + word(2, "b", 3, "x") + word(3, "c", 2, "x") + "\n"),
              HasSubstr("word 2 is among its own descendants, in \"a b c\""));
}

TEST(ParserNet, ParsesBatchedAsAlone) {
  Model model{1};
  const ParserNet net(model, {.embedding = 8, .affix_embedding = 4, .hidden = 8, .layers = 2, .middle = 12},
                      {.words = 20, .affixes = {5}, .labels = 3});
  std::vector<ParserSentence> sentences;
  for (std::int32_t i = 0; i < 20; ++i) {
    ParserSentence& sentence = sentences.emplace_back();
    sentence.affixes.resize(1);
    for (std::int32_t w = 0; w < 3 + i % 7; ++w) {
      sentence.words.push_back((7 * i + 3 * w) % 20);
      sentence.affixes[0].push_back((i + w) % 5);
    }
  }
  const auto parse = [&](Graph& g, const ParserSentence& sentence) { return net.parse(g, sentence); };
  RunStatistics took;
  const std::vector<Parse> together = run_batched(sentences, parse, {.statistics = &took});
  EXPECT_EQ(took.runs, 14);  // two moves for each of the 7 words of the longest
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    Graph g({.training = false});
    const Parse alone = run_alone(g, net.parse(g, sentences[i]));
    EXPECT_EQ(together[i].heads, alone.heads);
    EXPECT_EQ(together[i].labels, alone.labels);
  }
}

}  // namespace
}  // namespace espalier::models
