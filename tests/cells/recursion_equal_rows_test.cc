/// Recursions over rows of x that are known to be equal: what is computed from them alone is computed once.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "espalier/cells/recursion.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/ops/product_log.h"
#include "espalier/optim/sgd.h"
#include "tests/support/cells_agree.h"

namespace espalier::equal_rows {
namespace {

using In = std::span<const Expr>;
using Words = std::vector<std::int32_t>;

constexpr std::int32_t kWords = 6;
constexpr std::int32_t kWidth = 5;
constexpr std::int32_t kHidden = 4;

/// Kinds: elements of sequences that are read from their beginning and from their end, whose products of x run for all
/// heights at once; leaves; nodes of two children and x.
struct Net {
  Model model{3};
  nn::Embedding words{model / "words", kWords, kWidth};
  nn::Embedding others{model / "others", kWords, kWidth};
  nn::LstmCell forward{model / "forward", kWidth, kHidden};
  nn::LstmCell backward{model / "backward", kWidth, kHidden};
  nn::Linear leaf{model / "leaf", kWidth, kHidden};
  nn::Linear node{model / "node", kWidth + 2 * kHidden, kHidden};
  Recursion recursion{"net",
                      {forward.kind("forward"),
                       backward.kind("backward"),
                       {"leaf", 0, [this](In in) { return std::pair(tanh(leaf(in[0])), sigmoid(leaf(in[0]))); }},
                       {"node", 2, [this](In in) {
                          const Expr m = node(concat({in[0], in[1], in[3]}, 0));
                          return std::pair(tanh(m), sigmoid(m) * (in[2] + in[4]));
                        }}}};
};

/// A tree over leaves, whose inner nodes read x too.
Structure tree(std::int32_t leaves) {
  Structure structure;
  for (std::int32_t i = 0; i < leaves; ++i) structure.add(KindId{2}, i);
  for (std::int32_t i = 1, last = 0; i < leaves; ++i)
    last = structure.add(KindId{3}, i, {i % 2 == 0 ? last : i, i % 2 == 0 ? i : last});
  return structure;
}

/// Both directions of a sequence.
Structure chains(std::int32_t length) {
  Structure structure = Structure::sequence(length);
  std::int32_t before = Structure::kMissing;
  for (std::int32_t t = length; t-- > 0;) before = structure.add(KindId{1}, t, {before});
  return structure;
}

/// Ways to make the rows of x.
enum class Made : std::int32_t { kLookup, kList, kComputedList, kFromTwoTables };
constexpr std::array kAllWays{Made::kLookup, Made::kList, Made::kComputedList, Made::kFromTwoTables};

Expr rows_of(const Net& net, Graph& graph, const Words& words, Made made, std::size_t instance) {
  const nn::Embedding& table = made == Made::kFromTwoTables && instance % 2 == 1 ? net.others : net.words;
  if (made == Made::kLookup || made == Made::kFromTwoTables) return table.rows(graph, words);
  std::vector<Expr> list;
  for (const std::int32_t word : words)
    list.push_back(made == Made::kComputedList ? tanh(table(graph, word)) : table(graph, word));
  return rows(list);
}

std::vector<Words> draw_sentences(std::mt19937& random, int count) {
  std::vector<Words> sentences(static_cast<std::size_t>(count));
  for (Words& words : sentences)
    for (std::uint_fast32_t left = 1 + random() % 9; left > 0; --left)
      words.push_back(static_cast<std::int32_t>(random() % kWords));
  return sentences;
}

std::int32_t length_of(const Words& words) { return static_cast<std::int32_t>(words.size()); }

class RecursionOfEqualRows : public ::testing::TestWithParam<Made> {};
INSTANTIATE_TEST_SUITE_P(AllWays, RecursionOfEqualRows, ::testing::ValuesIn(kAllWays));

TEST_P(RecursionOfEqualRows, AgreesWithItsRowsOneByOne) {
  std::mt19937 random(1);
  const Net net;
  for (int time = 0; time < 24; ++time) {
    SCOPED_TRACE(time);
    const std::vector<Words> sentences = draw_sentences(random, 1 + time % 5);
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& wanted) {
      std::vector<Expr> losses;
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        graph.begin_instance();
        const Expr x = rows_of(net, graph, sentences[i], GetParam(), i);
        const std::int32_t length = length_of(sentences[i]);
        const bool is_tree = (static_cast<std::size_t>(time) + i) % 3 == 0;
        const std::vector<Expr> states = net.recursion(x, is_tree ? tree(length) : chains(length));
        losses.push_back(sum({sum(states[0] * states[0], 0)}));
        if (i % 2 == 1) losses.push_back(sum({sum(states[1], 0)}));
        if (time % 4 == 3) losses.push_back(sum({sum(x * x, 0)}));
        if (time % 2 == 1 && i % 2 == 0) wanted.push_back(x);  // the gradient of each row is then its own
      }
      if (time % 6 == 5) losses.back().value();  // before it is known whose gradients are wanted
      return sum(losses);
    });
  }
}

TEST_P(RecursionOfEqualRows, GivesTheSameInInference) {
  std::mt19937 random(2);
  const Net net;
  const std::vector<Words> sentences = draw_sentences(random, 12);
  const auto outputs_of = [&](const GraphOptions& options) {
    Graph graph(options);
    std::vector<Expr> outputs;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const Expr x = rows_of(net, graph, sentences[i], GetParam(), i);
      const std::int32_t length = length_of(sentences[i]);
      for (const Expr& state : net.recursion(x, i % 3 == 0 ? tree(length) : chains(length))) outputs.push_back(state);
    }
    return testing::finished_values(graph, outputs);
  };
  testing::expect_near(outputs_of({}), outputs_of({.execution = Execution::kPlain}), "finish");
}

/// Of nodes of one step, some go back alone; and steps of the same recursion run one after the other.
TEST_P(RecursionOfEqualRows, GoesBackThroughSomeInstancesAlone) {
  std::mt19937 random(3);
  const Net net;
  const std::vector<Words> sentences = draw_sentences(random, 7);
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>&) {
    std::vector<Expr> losses;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const Expr x = rows_of(net, graph, sentences[i], GetParam(), i);
      const Expr states = net.recursion(x, chains(length_of(sentences[i])))[0];
      losses.push_back(sum({sum(states * states, 0)}));
      if (i == 2) sum(losses).value();  // a run of its own
    }
    sum(losses).value();
    return sum({losses[0], losses[3], losses[5]});
  });
}

/// What one leaves for the gradients of its weights, the other overwrites.
TEST_P(RecursionOfEqualRows, MayRunBesideAnother) {
  std::mt19937 random(4);
  const Net net;
  const std::vector<Words> sentences = draw_sentences(random, 6);
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>&) {
    std::vector<Expr> losses;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const Expr x = rows_of(net, graph, sentences[i], GetParam(), i);
      const Expr states = net.recursion(x, chains(length_of(sentences[i])))[0];
      losses.push_back(sum({sum(states * states, 0), sum(net.forward.rows(x, i % 2 == 0).h, 0)}));
    }
    return sum(losses);
  });
}

/// Rows of products with weights of so many rows, by kind.
std::array<std::int64_t, 3> rows_multiplied(const ops::ProductLog& log, std::int64_t k) {
  std::array<std::int64_t, 3> rows{};
  for (const ops::ProductCalls& each : log.products())
    if (each.product.k == k) rows[static_cast<std::size_t>(each.product.kind)] += each.product.rows * each.calls;
  return rows;
}

TEST(RecursionOfEqualRowsAlone, MultipliesThemOnce) {
  const std::vector<Words> sentences{{1, 2, 1, 1, 3}, {3, 2, 2}, {5, 1, 2}};  // 4 of 11 words differ
  for (const bool is_tree : {false, true})
    for (const Memoise memoise : {Memoise::kLookups, Memoise::kOff}) {
      const Net net;
      const ops::ProductLog log;
      Graph graph({.memoise = memoise});
      std::vector<Expr> losses;
      for (const Words& words : sentences) {
        Structure leaves;
        for (std::int32_t i = 0; i < length_of(words); ++i) leaves.add(KindId{2}, i);
        const Structure structure = is_tree ? leaves : chains(length_of(words));
        losses.push_back(sum(net.recursion(net.words.rows(graph, words), structure)[0], 0));
      }
      sum({sum(losses)}).backward();
      const std::int64_t rows = (memoise == Memoise::kOff ? 11 : 4) * 2;  // two directions, or two uses of the layer
      EXPECT_EQ(rows_multiplied(log, kWidth), (std::array{rows, rows, rows})) << is_tree;
    }
}

/// The gradient of a row's state is its own, and not also that of rows that are equal.
TEST(RecursionOfEqualRowsAlone, HasGradientsOfStatesThatAreWanted) {
  const Net net;
  const Words words{2, 2, 4, 2};
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& wanted) {
    Structure leaves;
    for (std::int32_t i = 0; i < length_of(words); ++i) leaves.add(KindId{2}, i);
    const Expr states = net.recursion(net.words.rows(graph, words), leaves)[0];
    wanted.push_back(states);
    return sum({sum(states * states, 0), sum(row(states, 1), 0)});
  });
}

/// Also where rows of other instances are equal, where two rows of a structure read the same row of x, and of any part.
TEST(RecursionOfEqualRowsAlone, HasGradientsOfAnyPartOfWantedStates) {
  const Net net;
  for (const std::size_t part : {0U, 1U})
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& wanted) {
      std::vector<Expr> losses;
      for (const Words& words : {Words{3, 2}, Words{1, 1, 2}, Words{2, 1}}) {
        Structure leaves;
        for (const std::int32_t x : {0, 1, 0, 1}) leaves.add(KindId{2}, x);
        const Expr states = net.recursion(net.words.rows(graph, words), leaves)[part];
        if (wanted.empty()) wanted.push_back(states);
        losses.push_back(sum({sum(states * states, 0), sum(row(states, 2), 0)}));
      }
      return sum(losses);
    });
}

TEST(RecursionOfEqualRowsAlone, LearnsTheSameAsEachForItself) {
  std::mt19937 random(5);
  const std::vector<Words> sentences = draw_sentences(random, 8);
  const auto weights_after = [&](Memoise memoise) {
    Net net;
    optim::Sgd sgd(net.model, {.learning_rate = 0.1});
    Graph graph({.memoise = memoise});
    for (int time = 0; time < 3; ++time) {
      graph.clear();
      std::vector<Expr> losses;
      for (const Words& words : sentences) {
        const Expr states = net.recursion(net.words.rows(graph, words), chains(length_of(words)))[0];
        losses.push_back(sum({sum(states * states, 0)}));
      }
      sgd.minimise(sum(losses));
    }
    std::vector<Tensor> weights;
    for (const Parameter* parameter : net.model.parameters()) weights.push_back(parameter->value());
    return weights;
  };
  testing::expect_near(weights_after(Memoise::kLookups), weights_after(Memoise::kOff), "minimise");
}

}  // namespace
}  // namespace espalier::equal_rows
