/// The networks over trees and sentences: against plain code, both forms against each other, and whether they learn.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/graph/graph.h"
#include "espalier/models/relatedness_net.h"
#include "espalier/models/sentiment_net.h"
#include "espalier/models/tagger_net.h"
#include "espalier/ops/all.h"
#include "tests/models/forms_agree.h"
#include "tests/models/learn.h"
#include "tests/models/random_instances.h"
#include "tests/support/cells_agree.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::expect_near;
using espalier::testing::refusal_of;
using testing::all_of;
using testing::expect_forms_agree;
using testing::loss_after;

std::vector<BinaryTree> trees(std::int32_t labels, bool some_without_label = false) {
  Random random(5);
  std::vector<BinaryTree> all;
  for (const std::int32_t leaves : {1, 2, 5, 9}) all.push_back(testing::random_tree(random, leaves, 12, labels));
  if (some_without_label)
    for (BinaryTree& tree : all) tree.nodes.front().label = tree.nodes.size() > 1 ? kNoLabel : 0;
  return all;
}

SentimentSettings small_sentiment(const std::string& cell) {
  return {.cell = cell, .embedding = cell == "mv_rnn" ? 6 : 5, .hidden = 6};
}

TEST(SentimentNet, IsTheSameNetworkInBothForms) {
  for (const std::string cell : {"tree_lstm", "tree_gru", "tree_rnn", "mv_rnn"})
    for (const std::string loss : {"every", "root"}) {
      SCOPED_TRACE(cell + " " + loss);
      const auto make = [&](Model& model, Form form) {
        SentimentSettings settings = small_sentiment(cell);
        settings.loss = loss;
        settings.dropout = 0;
        auto net = std::make_shared<SentimentNet>(model, settings, 12, std::nullopt, form);
        return [net](Graph& graph, const BinaryTree& tree) { return sum({net->loss(graph, tree)}); };
      };
      expect_forms_agree(make, trees(5, loss == "every"));
    }
}

TEST(SentimentNet, LearnsAFewTrees) {
  for (const std::string cell : {"tree_lstm", "tree_gru", "tree_rnn", "mv_rnn"}) {
    Model model;
    const SentimentNet net(model, small_sentiment(cell), 12);
    const std::vector<BinaryTree> all = trees(2);
    const auto record = all_of(all, [&](Graph& graph, const BinaryTree& tree) { return sum({net.loss(graph, tree)}); });
    std::vector<Expr> none;
    EXPECT_LT(loss_after(model, 250, [&](Graph& graph) { return record(graph, none); }), 2.5) << cell;
  }
}

TEST(SentimentNet, GivesTheScoresOfTheRootBesideTheLoss) {
  Model model;
  const SentimentNet net(model, small_sentiment("tree_lstm"), 12);
  for (const BinaryTree& tree : trees(5)) {
    Graph graph({.training = false});
    Expr beside;
    net.loss(graph, tree, &beside);
    expect_near({beside.value()}, {net.scores(graph, tree).value()}, "scores");
  }
}

TEST(SentimentNet, StartsFromGivenVectors) {
  Model model;
  const Tensor vectors({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const SentimentNet net(model, small_sentiment("tree_lstm"), 12, vectors);
  EXPECT_EQ(model.parameter("words.table").value().at(7), 8);
}

TEST(SentimentNet, RefusesTreesWithoutLabelsAndSettingsOutOfRange) {
  Model model;
  const SentimentNet net(model, small_sentiment("tree_lstm"), 12);
  const BinaryTree tree{.nodes = {{.word = 1, .label = kNoLabel}}};
  Graph graph;
  EXPECT_EQ(refusal_of([&] { net.loss(graph, tree); }), "sentiment: no node of a tree has a label");
  EXPECT_EQ(refusal_of([&] { SentimentNet(model, {.cell = "lstm"}, 12); }),
            "setting \"cell\" takes one of tree_lstm, tree_gru, tree_rnn, mv_rnn, and \"lstm\" was given");
}

std::vector<TaggedSentence> sentences(bool some_known = false) {
  Random random(6);
  std::vector<TaggedSentence> all;
  for (const std::int32_t length : {1, 2, 6, 9}) all.push_back(testing::random_sentence(random, length, 11, 4, 7));
  if (some_known)
    for (TaggedSentence& sentence : all) sentence.characters.back().clear();
  return all;
}

TaggerSettings small_tagger(const std::string& characters, bool crf, std::int32_t middle) {
  return {.embedding = 6,
          .hidden = 5,
          .middle = middle,
          .characters = characters,
          .character_embedding = 3,
          .character_hidden = 4,
          .crf = crf,
          .dropout = 0};
}

TEST(TaggerNet, IsTheSameNetworkInBothForms) {
  for (const std::string characters : {"none", "all", "rare"})
    for (const bool crf : {false, true}) {
      SCOPED_TRACE(characters + (crf ? " crf" : ""));
      const auto make = [&](Model& model, Form form) {
        auto net =
            std::make_shared<TaggerNet>(model, small_tagger(characters, crf, crf ? 0 : 3),
                                        TaggerCounts{.words = 11, .characters = 7, .tags = 4}, std::nullopt, form);
        return [net](Graph& graph, const TaggedSentence& sentence) {
          return sum({net->loss(net->scores(graph, sentence), sentence.tags)});
        };
      };
      expect_forms_agree(make, sentences(characters == "rare"));
    }
}

TEST(TaggerNet, LearnsAFewSentences) {
  for (const bool crf : {false, true}) {
    Model model;
    const TaggerNet net(model, small_tagger("all", crf, 0), {.words = 11, .characters = 7, .tags = 4});
    const std::vector<TaggedSentence> all = sentences();
    const auto record = all_of(all, [&](Graph& graph, const TaggedSentence& sentence) {
      return sum({net.loss(net.scores(graph, sentence), sentence.tags)});
    });
    std::vector<Expr> none;
    EXPECT_LT(loss_after(model, 120, [&](Graph& graph) { return record(graph, none); }), 0.5);
    Graph graph({.training = false});
    for (const TaggedSentence& sentence : all) EXPECT_EQ(net.tags(net.scores(graph, sentence).value()), sentence.tags);
  }
}

TEST(TaggerNet, RefusesASentenceWithoutWords) {
  Model model;
  const TaggerNet net(model, small_tagger("none", false, 0), {.words = 11, .characters = 7, .tags = 4});
  Graph graph;
  EXPECT_EQ(refusal_of([&] { net.scores(graph, {}); }), "tagger: a sentence has no words");
}

std::vector<TreePair> pairs() {
  Random random(8);
  std::vector<TreePair> all;
  for (const double score : {1.0, 2.3, 4.75, 5.0})
    all.push_back({testing::random_dependencies(random, 6, 10), testing::random_dependencies(random, 1, 10), score});
  return all;
}

constexpr RelatednessSettings kSmallRelatedness{.embedding = 4, .hidden = 6, .similarity = 5};

TEST(RelatednessNet, IsTheSameNetworkInBothForms) {
  const auto make = [](Model& model, Form form) {
    auto net = std::make_shared<RelatednessNet>(model, kSmallRelatedness, 10, std::nullopt, form);
    return [net](Graph& graph, const TreePair& pair) { return net->loss(net->distribution(graph, pair), pair.score); };
  };
  expect_forms_agree(make, pairs());
}

TEST(RelatednessNet, LearnsAFewScores) {
  Model model;
  const RelatednessNet net(model, kSmallRelatedness, 10);
  const std::vector<TreePair> all = pairs();
  const auto record = all_of(
      all, [&](Graph& graph, const TreePair& pair) { return net.loss(net.distribution(graph, pair), pair.score); });
  std::vector<Expr> none;
  EXPECT_LT(loss_after(model, 300, [&](Graph& graph) { return record(graph, none); }), 0.1);
  Graph graph({.training = false});
  for (const TreePair& pair : all)
    EXPECT_NEAR(RelatednessNet::score_of(net.distribution(graph, pair).value()), pair.score, 0.2);
}

TEST(RelatednessNet, SpreadsAScoreOverTheWholeOnesBesideIt) {
  EXPECT_EQ(sparse_distribution(3.25, 5), (std::vector<float>{0, 0, 0.75, 0.25, 0}));
  EXPECT_EQ(sparse_distribution(5, 5), (std::vector<float>{0, 0, 0, 0, 1}));
  EXPECT_EQ(refusal_of([] { sparse_distribution(0.5, 5); }), "relatedness: scores are from 1 to 5, and one is 0.5");
}

}  // namespace
}  // namespace espalier::models
