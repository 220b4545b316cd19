/// The weaver: what it refuses, how it divides, and that one file serves instances of any size.
#include "espalier/onnx/onnx.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/random.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/onnx/cases.h"

namespace espalier::onnx {
namespace {

using testing::refusal;

using testing::expect_runtime_agrees;
using testing::OnnxFolder;
using testing::write_case;

/// A Tree-LSTM with a cell per kind of node, and scores of the root.
struct TreeNet {
  Model model{3};
  nn::Embedding words{model / "words", 50, 6};
  nn::BinaryTreeLstm tree{model / "tree", 6, 5};
  nn::Linear classify{model / "classify", 5, 3};

  /// Words of a sentence, merged from the left, or in pairs.
  Expr scores(Graph& graph, const std::vector<std::int32_t>& sentence, bool is_chain) const {
    graph.begin_instance();
    std::vector<nn::TreeState> states;
    for (const std::int32_t word : sentence) states.push_back(tree.leaf(words(graph, word)));
    while (states.size() > 1) {
      std::vector<nn::TreeState> next;
      if (is_chain) {
        next.push_back(tree(states[0], states[1]));
        next.insert(next.end(), states.begin() + 2, states.end());
      } else {
        for (std::size_t i = 0; i + 1 < states.size(); i += 2) next.push_back(tree(states[i], states[i + 1]));
        if (states.size() % 2 == 1) next.push_back(states.back());
      }
      states = std::move(next);
    }
    return classify(states[0].h);
  }
};

std::vector<std::int32_t> sentence_of(std::int32_t length, std::int32_t seed) {
  std::vector<std::int32_t> words;
  for (std::int32_t i = 0; i < length; ++i) words.push_back((i * i + seed * 7 + i) % 50);
  return words;
}

class OnnxWeaver : public ::testing::Test {
 protected:
  OnnxWeaver() {
    Graph graph({.training = false});
    write(path(), {"scores"}, std::vector<Instance>{{net_.scores(graph, {1, 2, 3}, true)}});
  }
  std::filesystem::path path() const { return folder_ / "model.onnx"; }

  OnnxFolder folder_;
  TreeNet net_;
};

TEST_F(OnnxWeaver, NamesSignaturesAfterWhatTheyAre) {
  EXPECT_EQ(Weaver(path()).signatures(), (std::vector<std::string>{"lookup(words.table)", "tree_lstm.leaf", "tree_lstm",
                                                                   "affine(classify.W, classify.b)"}));
  EXPECT_EQ(Weaver(path()).outputs(), std::vector<std::string>{"scores"});
}

TEST_F(OnnxWeaver, OneFileServesTreesAndBatchesOfManySizes) {
  Graph graph({.training = false});
  std::vector<Instance> instances;
  for (const std::int32_t length : {1, 2, 3, 17, 400}) {
    instances.push_back({net_.scores(graph, sentence_of(length, length), true)});
    instances.push_back({net_.scores(graph, sentence_of(length, length + 1), false)});
  }
  for (std::int32_t i = 0; i < 200; ++i) instances.push_back({net_.scores(graph, sentence_of(1 + i % 9, i), false)});
  Graph sample({.training = false});
  const std::vector<Instance> samples{{net_.scores(sample, {1, 2, 3}, true)}};
  // A case per number of instances, all of the same file's structure.
  write_case(folder_ / "many", {"scores"}, samples, instances);
  write_case(folder_ / "one", {"scores"}, samples, {instances[0]});
  write_case(folder_ / "chain", {"scores"}, samples, {instances[8]});
  std::filesystem::remove(path());
  expect_runtime_agrees(folder_, 3);
}

TEST_F(OnnxWeaver, LongChainsDoNotCarryAllOfTheirLeaves) {
  Graph graph({.training = false});
  const std::vector<Instance> chain{{net_.scores(graph, sentence_of(2000, 1), true)}};
  const std::vector<Call> calls = Weaver(path()).weave(chain);
  ASSERT_EQ(calls.size(), 1U);
  // Rows that wait are in the schedule of each step: 2000 steps with half of all leaves would be 2 million numbers.
  EXPECT_LT(calls[0].feeds[1].integers.size(), 200'000U);
}

TEST_F(OnnxWeaver, EqualWordsAreOneNode) {
  Graph graph({.training = false});
  const std::vector<Instance> twice{{net_.scores(graph, {4, 4, 4, 4}, false)}, {net_.scores(graph, {4, 4}, false)}};
  const NodeList nodes = Weaver(path()).read(twice);
  // The word, its leaf, two levels of inner nodes, and two scores.
  EXPECT_EQ(nodes.signatures.size(), 6U);
}

TEST_F(OnnxWeaver, RefusesByNameWhatNoSampleHad) {
  Graph graph({.training = false});
  const Expr other = tanh(net_.scores(graph, {1, 2}, true));
  EXPECT_EQ(refusal([&] { Weaver(path()).weave(std::vector<Instance>{{other}}); }),
            "onnx: \"" + path().string() + "\" has no signature tanh[3]: no sample that it was written from had one");
  Model other_model{1};
  const nn::Linear unknown{other_model / "other", 5, 3};
  const Expr unseen = unknown(graph.input({5}, {1, 2, 3, 4, 5}));
  EXPECT_EQ(refusal([&] { Weaver(path()).weave(std::vector<Instance>{{unseen}}); }),
            "onnx: \"" + path().string() + "\" has no signature row[5]: no sample that it was written from had one");
}

TEST_F(OnnxWeaver, RefusesInstancesThatDoNotFit) {
  Graph graph({.training = false});
  const Expr scores = net_.scores(graph, {1, 2}, true);
  const Weaver weaver(path());
  EXPECT_EQ(refusal([&] {
              weaver.weave(std::vector<Instance>{{scores, scores}});
            }),
            "onnx: instance 0 has 2 outputs, and the file has 1");
  Graph second({.training = false});
  EXPECT_EQ(refusal([&] {
              weaver.weave(std::vector<Instance>{{scores}, {net_.scores(second, {1}, true)}});
            }),
            "onnx: instance 1 belongs to another graph");
}

TEST_F(OnnxWeaver, ComputesNothing) {
  Graph graph({.training = false});
  const std::vector<Instance> instances{{net_.scores(graph, sentence_of(9, 2), false)}};
  static_cast<void>(Weaver(path()).weave(instances));
  EXPECT_EQ(graph.statistics().steps, 0);
}

TEST_F(OnnxWeaver, MakesSeveralCallsOfMoreThanAMillionNodes) {
  Graph graph({.training = false});
  // Each sentence of distinct leaves; a chain's nodes are all distinct.
  std::vector<Instance> instances;
  const Expr zero = graph.input({6}, {1, 2, 3, 4, 5, 6});
  const Expr start = net_.tree.leaf(zero).h;
  OnnxFolder folder;
  write(folder / "model.onnx", {"h"}, std::vector<Instance>{{tanh(start)}});
  constexpr int kChain = 300'000;
  for (int i = 0; i < 4; ++i) {
    Expr h = net_.tree.leaf(graph.input({6}, {1, 2, 3, 4, 5, 6.5F + static_cast<float>(i)})).h;
    for (int k = 0; k < kChain; ++k) h = tanh(h);
    instances.push_back({h});
  }
  const Weaver weaver(folder / "model.onnx");
  const std::vector<Call> calls = weaver.weave(instances);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].count, 3);
  EXPECT_EQ(calls[1].first, 3);
  EXPECT_EQ(calls[1].count, 1);
  for (const Call& call : calls) weaver.check(call.feeds);
  Expr h = instances[0][0];
  for (int k = 0; k < 1'000'000 - kChain; ++k) h = tanh(h);
  EXPECT_EQ(refusal([&] { weaver.weave(std::vector<Instance>{{h}}); }),
            "onnx: instance 0 alone has 1000002 nodes, and a call can have 1000000");
}

// --- damaged schedules
// -------------------------------------------------------------------------------------------------

class OnnxHostile : public OnnxWeaver {
 protected:
  OnnxHostile() {
    Graph graph({.training = false});
    const std::vector<Instance> instances{{net_.scores(graph, {1, 2, 3}, true)}};
    feeds_ = weaver_.weave(instances)[0].feeds;
    nodes_ = weaver_.read(instances);
  }
  std::string checked() const {
    return refusal([&] { weaver_.check(feeds_); });
  }
  std::string woven() const {
    return refusal([&] { static_cast<void>(weaver_.weave(nodes_)); });
  }

  Weaver weaver_{path()};
  std::vector<Feed> feeds_;  // lengths, schedule, scores.rows
  NodeList nodes_;
};

TEST_F(OnnxHostile, AcceptsWhatItMadeItself) {
  EXPECT_EQ(checked(), "nothing was refused");
  EXPECT_EQ(woven(), "nothing was refused");
}

TEST_F(OnnxHostile, RefusesRowsThatAreNotThere) {
  feeds_[1].integers[0] = 50;
  EXPECT_EQ(checked(), "onnx: step 0, lookup(words.table): it reads row 50, and there are 50");
  feeds_[1].integers[0] = -1;  // which ONNX would count from the end
  EXPECT_EQ(checked(), "onnx: step 0, lookup(words.table): it reads row -1, and there are 50");
  feeds_[1].integers[0] = 1;
  feeds_[2].integers[0] = 7;
  EXPECT_EQ(checked(), "onnx: input \"scores.rows\" reads row 7 of the last state of width 3, which has 1 rows");
}

TEST_F(OnnxHostile, RefusesLengthsThatDoNotFit) {
  feeds_[0].integers[0] = 1'000'000;
  EXPECT_EQ(checked().substr(0, 60), "onnx: step 0, state of width 3: a length of 1000000, and the");
  feeds_[0].integers[0] = -1;
  EXPECT_EQ(checked().substr(0, 46), "onnx: step 0, state of width 3: a length of -1");
  feeds_[0].integers[0] = 0;
  feeds_[1].integers.push_back(0);
  ++feeds_[1].shape[0];
  EXPECT_EQ(checked(), "onnx: the schedule goes on for 1 numbers after the last step");
}

TEST_F(OnnxHostile, RefusesInputsOfAnotherKind) {
  feeds_[0].shape[1] = 2;
  EXPECT_EQ(checked().substr(0, 36), "onnx: input \"lengths\" has shape [5, ");
  feeds_.erase(feeds_.begin());
  EXPECT_EQ(checked(), "onnx: input \"lengths\" is missing");
}

TEST_F(OnnxHostile, RefusesNodesThatDoNotFit) {
  const NodeList good = nodes_;
  nodes_.operands[0] = 1'000;
  EXPECT_EQ(woven().substr(0, 43), "onnx: node 1, \"tree_lstm.leaf\", reads value");
  nodes_ = good;
  nodes_.signatures[0] = 9;
  EXPECT_EQ(woven(), "onnx: node 0 has signature 9, and there are 0 to 3");
  nodes_ = good;
  nodes_.fields[0] = 50;
  EXPECT_EQ(woven(), "onnx: node 0, \"lookup(words.table)\", has the field 50, and 0 to 49 are possible");
  nodes_ = good;
  nodes_.operand_ends.back() = 1'000;
  EXPECT_NE(woven(), "nothing was refused");
  nodes_ = good;
  nodes_.outputs[0][0] = 0;
  EXPECT_EQ(woven(), "onnx: output \"scores\" is value 0, which has 6 elements, and has 3");
}

/// Any one number of a schedule is changed to any of some others: it is refused, or still reads rows that are there.
TEST_F(OnnxHostile, EveryDamagedNumberIsRefusedOrHarmless) {
  Random random(11);
  int refused = 0;
  for (int k = 0; k < 2'000; ++k) {
    std::vector<Feed> damaged = feeds_;
    Feed& feed = damaged[static_cast<std::size_t>(random.below(3))];
    feed.integers[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(feed.integers.size())))] =
        random.below(40) - 20;
    try {
      weaver_.check(damaged);
    } catch (const UsageError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace espalier::onnx
