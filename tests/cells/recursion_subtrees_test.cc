/// Recursions compute equal subtrees once: of one kind, over lookups of the same rows, with equal children.
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
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/ops/product_log.h"
#include "tests/support/cells_agree.h"

namespace espalier::subtrees {
namespace {

using In = std::span<const Expr>;
using Words = std::vector<std::int32_t>;

constexpr std::int32_t kVocabulary = 3;
constexpr std::int32_t kWidth = 5;
constexpr std::int32_t kHidden = 4;

constexpr KindId kLeafKind{0};
constexpr KindId kPair{1};
constexpr KindId kPairWithX{2};
constexpr KindId kStep{3};

/// Leaves; pairs that read no x, and such that do; steps of a sequence.
struct Net {
  Model model{3};
  nn::Embedding words{model / "words", kVocabulary, kWidth};
  nn::Linear leaf{model / "leaf", kWidth, kHidden};
  nn::Linear pair{model / "pair", 2 * kHidden, kHidden};
  nn::Linear with_x{model / "with_x", kWidth + 2 * kHidden, kHidden};
  nn::Linear step{model / "step", kWidth + kHidden, kHidden};
  Recursion recursion{"net",
                      {{"leaf", 0, [this](In in) { return std::pair(tanh(leaf(in[0])), sigmoid(leaf(in[0]))); }},
                       {"pair", 2,
                        [this](In in) {
                          const Expr m = pair(concat({in[0], in[2]}, 0));
                          return std::pair(tanh(m), in[1] + sigmoid(m) * in[3]);
                        },
                        TakesX::kNo},
                       {"pair with x", 2,
                        [this](In in) {
                          const Expr m = with_x(concat({in[0], in[1], in[3]}, 0));
                          return std::pair(tanh(m), in[2] - sigmoid(m) * in[4]);
                        }},
                       {"step", 1, [this](In in) {
                          const Expr m = step(concat({in[0], in[1]}, 0));
                          return std::pair(tanh(m), in[2] + sigmoid(m));
                        }}}};
};

struct Drawn {
  Words words;
  Structure structure;
};

/// A random forest: few words and small trees, so that many are equal, and rows in any order.
Drawn draw(std::mt19937& random) {
  Drawn drawn;
  const auto below = [&](std::uint_fast32_t n) { return static_cast<std::int32_t>(random() % n); };
  const std::int32_t leaves = 2 + below(6);
  for (std::int32_t i = 0; i < leaves; ++i) drawn.words.push_back(below(kVocabulary));
  const auto any_x = [&] { return below(static_cast<std::uint_fast32_t>(leaves)); };
  for (std::int32_t i = 0; i < leaves; ++i) drawn.structure.add(kLeafKind, i);
  for (std::int32_t i = below(8); i > 0; --i) {
    const auto any_row = [&] {
      return below(5) == 0 ? Structure::kMissing : below(static_cast<std::uint_fast32_t>(drawn.structure.size()));
    };
    switch (below(4)) {
      case 0: drawn.structure.add(kPair, Structure::kNoX, {any_row(), any_row()}); break;
      case 1: drawn.structure.add(kPairWithX, any_x(), {any_row(), any_row()}); break;
      default: drawn.structure.add(kStep, any_x(), {any_row()}); break;
    }
  }
  return drawn;
}

TEST(RecursionOfEqualSubtrees, AgreesWithItsRowsOneByOne) {
  std::mt19937 random(1);
  const Net net;
  for (int time = 0; time < 40; ++time) {
    SCOPED_TRACE(time);
    std::vector<Drawn> instances;
    for (int i = 0; i < 1 + time % 6; ++i) instances.push_back(draw(random));
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& wanted) {
      std::vector<Expr> losses;
      for (std::size_t i = 0; i < instances.size(); ++i) {
        graph.begin_instance();
        const Expr x = net.words.rows(graph, instances[i].words);
        const std::vector<Expr> states = net.recursion(x, instances[i].structure);
        losses.push_back(sum({sum(states[0] * states[0], 0)}));
        if (i % 2 == 1) losses.push_back(sum(row(states[1], instances[i].structure.size() - 1), 0));
        if (time % 3 == 2 && i % 2 == 0) wanted.push_back(x);
      }
      if (time % 5 == 4) losses.back().value();
      return sum(losses);
    });
  }
}

/// The gradient of a row's state is its own, and not also that of rows that are equal. Compared with rows that are each
/// computed for themselves: op by op, the gradient of a child's state leaves out what flows through its parents.
TEST(RecursionOfEqualSubtrees, HasGradientsOfStatesThatAreWanted) {
  std::mt19937 random(3);
  const Net net;
  for (int time = 0; time < 20; ++time) {
    SCOPED_TRACE(time);
    std::vector<Drawn> instances;
    for (int i = 0; i < 4; ++i) instances.push_back(draw(random));
    const auto record = [&](Graph& graph, std::vector<Expr>& wanted) {
      std::vector<Expr> losses;
      for (std::size_t i = 0; i < instances.size(); ++i) {
        const std::vector<Expr> states =
            net.recursion(net.words.rows(graph, instances[i].words), instances[i].structure);
        losses.push_back(sum({sum(states[0] * states[1], 0)}));
        if (i % 2 == 0) wanted.push_back(states[0]);
      }
      return sum(losses);
    };
    testing::expect_near(testing::numbers_of(net.model, {}, record),
                         testing::numbers_of(net.model, {.memoise = Memoise::kOff}, record), "wanted states");
  }
}

TEST(RecursionOfEqualSubtrees, GivesTheSameInInference) {
  std::mt19937 random(2);
  const Net net;
  std::vector<Drawn> instances;
  for (int i = 0; i < 20; ++i) instances.push_back(draw(random));
  const auto outputs_of = [&](const GraphOptions& options) {
    Graph graph(options);
    std::vector<Expr> outputs;
    for (const Drawn& drawn : instances)
      for (const Expr& state : net.recursion(net.words.rows(graph, drawn.words), drawn.structure))
        outputs.push_back(state);
    return testing::finished_values(graph, outputs);
  };
  testing::expect_near(outputs_of({}), outputs_of({.execution = Execution::kPlain}), "finish");
}

/// Rows that products with the weights of pairs multiply, forward.
std::int64_t pairs_multiplied(const Net& net, Memoise memoise, const Words& words, const Structure& structure) {
  const ops::ProductLog log;
  Graph graph({.memoise = memoise});
  std::vector<Expr> outputs;
  for (int instance = 0; instance < 2; ++instance)
    outputs.push_back(net.recursion(net.words.rows(graph, words), structure)[0]);
  graph.finish(outputs);
  std::int64_t rows = 0;
  for (const ops::ProductCalls& each : log.products())
    if (each.product.k == 2 * kHidden) rows += each.product.rows * each.calls;
  return rows;
}

TEST(RecursionOfEqualSubtrees, ComputesThemOnce) {
  const Net net;
  // ((0 1) (0 1)), twice, where the words are looked up one by one.
  Structure structure;
  for (std::int32_t i = 0; i < 4; ++i) structure.add(kLeafKind, i);
  const std::int32_t left = structure.add(kPair, Structure::kNoX, {0, 1});
  const std::int32_t right = structure.add(kPair, Structure::kNoX, {2, 3});
  structure.add(kPair, Structure::kNoX, {left, right});
  EXPECT_EQ(pairs_multiplied(net, Memoise::kLookups, {0, 1, 0, 1}, structure), 2);
  EXPECT_EQ(pairs_multiplied(net, Memoise::kLookups, {0, 1, 1, 0}, structure), 3);  // only the instances are equal
  EXPECT_EQ(pairs_multiplied(net, Memoise::kOff, {0, 1, 0, 1}, structure), 6);
}

/// A kind of so many children, of which each has a state of two parts, beside x: inputs of 1 + 2 * children.
Recursion wide(const Net& net, std::int32_t children) {
  return Recursion("wide",
                   {{"leaf", 0, [&net](In in) { return std::pair(tanh(net.leaf(in[0])), sigmoid(net.leaf(in[0]))); }},
                    {"wide", children, [&net](In in) {
                       std::vector<Expr> h;
                       std::vector<Expr> c;
                       for (std::size_t i = 1; i < in.size(); i += 2) {
                         h.push_back(in[i]);
                         c.push_back(in[i] * in[i + 1]);
                       }
                       const Expr m = net.leaf(in[0]) + sum(h);
                       return std::pair(tanh(m), sigmoid(m) * sum(c));
                     }}});
}

TEST(RecursionOfManyChildren, IsOneNodeOrSaysWhyNot) {
  const Net net;
  for (const std::int32_t children : {13, 16, 30, 31}) {
    SCOPED_TRACE(children);
    const Recursion recursion = wide(net, children);
    Words words;
    Structure structure;
    std::vector<std::int32_t> all;
    for (std::int32_t i = 0; i < children; ++i) {
      words.push_back(i % kVocabulary);
      all.push_back(structure.add(kLeafKind, i));
    }
    all[3] = Structure::kMissing;
    structure.add(KindId{1}, 0, all);
    const auto loss_of = [&](Graph& graph, std::vector<Expr>&) {
      const std::vector<Expr> states = recursion(net.words.rows(graph, words), structure);
      return sum({sum(states[0] * states[1], 0)});
    };
    testing::expect_cells_agree(net.model, loss_of);
    Graph graph;
    std::vector<Expr> none;
    loss_of(graph, none).value();
    const bool is_compiled = children <= 30;  // 1 + 2 * 30 inputs, and the two parameters of a layer
    EXPECT_EQ(graph.size() < 12, is_compiled) << graph.size();
    EXPECT_EQ(
        graph.explain().find("recorded op by op, and why:\n"
                             "  recursion \"wide\": kind \"wide\": its function has 65 inputs and parameters, and at "
                             "most 63 can be compiled\n") == std::string::npos,
        is_compiled)
        << graph.explain();
  }
}

}  // namespace
}  // namespace espalier::subtrees
