/// Recursions in several threads: of one over many rows, and of one in each thread. Label: threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "espalier/cells/recursion.h"
#include "espalier/exec/gradients.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/threads.h"

namespace espalier::recursions {
namespace {

using In = std::span<const Expr>;

struct Net {
  Model model{5};
  nn::Linear leaf{model / "leaf", 8, 40};
  nn::Linear node{model / "node", 80, 40};
  Recursion recursion{"net",
                      {{"leaf", 0, [this](In in) { return tanh(leaf(in[0])); }},
                       {"node", 2, [this](In in) { return tanh(node(concat(in, 0))); }, TakesX::kNo}}};
};

/// The loss and all gradients of some structures over 200 leaves, of which parents share children or do not.
std::vector<double> numbers_of(const Net& net, bool shared) {
  Graph graph;
  std::vector<Expr> losses;
  for (int instance = 0; instance < 3; ++instance) {
    std::vector<float> x;
    for (int i = 0; i < 200 * 8; ++i) x.push_back(static_cast<float>((i * 7 + instance) % 13) / 7 - 1);
    Structure structure;
    for (std::int32_t i = 0; i < 200; ++i) structure.add(KindId{0}, shared ? i / 2 : i);
    for (std::int32_t i = 0; i < 198; i += shared ? 1 : 2) structure.add(KindId{1}, Structure::kNoX, {i, i + 1});
    losses.push_back(sum(net.recursion(graph.rows({8}, x), structure)[0], 0));
  }
  const Expr loss = sum(losses);
  Gradients into;
  loss.backward({.into = &into, .wanted = {}});
  std::vector<double> numbers{loss.scalar()};
  for (const Parameter* parameter : net.model.parameters()) {
    const Tensor whole = into.find(*parameter)->to_tensor();
    for (std::int64_t i = 0; i < whole.elements(); ++i) numbers.push_back(whole.at(i));
  }
  return numbers;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-3 * std::abs(expected[i]) + 1e-3) << i;
}

TEST(RecursionThreads, DivideTheRowsOfAHeight) {
  const Net net;
  for (const bool shared : {false, true}) {
    std::vector<double> expected;
    {
      const testing::Threads one(1);
      expected = numbers_of(net, shared);
    }
    const testing::Threads four(4);
    for (int time = 0; time < 5; ++time) expect_close(numbers_of(net, shared), expected);
  }
}

/// Two chains over the same x that never read each other.
struct Chains {
  enum class Of {
    kLstms,       // whose products of x run for all heights at once
    kOneLstm,     // for both: they share weights
    kOtherCells,  // which read x level by level
  };

  explicit Chains(Of of)
      : there(model / "there", 48, 64),
        back(model / "back", 48, 64),
        step(model / "step", 48 + 64, 64),
        recursion("chains", kinds(of), {{64}, {64}}) {}

  std::vector<RecursionKind> kinds(Of of) const {
    const auto read = [this](In in) {
      const Expr m = tanh(step(concat({tanh(in[0]), in[1]}, 0)));
      return std::pair(m, m * in[2]);
    };
    switch (of) {
      case Of::kLstms: return {there.kind("there"), back.kind("back")};
      case Of::kOneLstm: return {there.kind("there"), there.kind("back")};
      case Of::kOtherCells: break;
    }
    return {{"there", 1, read}, {"back", 1, read}};
  }

  Model model{7};
  nn::Embedding words{model / "words", 9, 48};
  nn::LstmCell there, back;
  nn::Linear step;
  Recursion recursion;
};

/// The loss and all gradients of two chains each over three sequences, of which the second passes over a row of x; then
/// the loss once more, by finish(). Where x is looked up, rows are equal.
std::vector<double> numbers_of(const Chains& net, bool looks_up) {
  std::vector<double> numbers;
  for (const bool trains : {true, false}) {
    Graph graph;
    std::vector<Expr> losses;
    std::vector<Expr> inputs;
    for (const std::int32_t length : {30, 1, 17}) {
      std::vector<float> x;
      for (std::int32_t i = 0; i < length * 48; ++i) x.push_back(static_cast<float>((i * 7 + length) % 13) / 7 - 1);
      std::vector<std::int32_t> words;
      for (std::int32_t t = 0; t < length; ++t) words.push_back((t * t + length) % 9);
      Structure structure = Structure::sequence(length);
      std::int32_t before = Structure::kMissing;
      for (std::int32_t t = length; t-- > 0;)
        if (t != 3) before = structure.add(KindId{1}, t, {before});
      if (!looks_up) inputs.push_back(graph.rows({48}, x));
      const Expr states = net.recursion(looks_up ? net.words.rows(graph, words) : inputs.back(), structure)[0];
      losses.push_back(sum({sum(states * states, 0)}));
    }
    const Expr loss = sum(losses);
    if (!trains) {
      graph.finish({loss});
      numbers.push_back(loss.scalar());
      continue;
    }
    Gradients into;
    loss.backward({.into = &into, .wanted = inputs});
    numbers.push_back(loss.scalar());
    const auto add = [&](const Tensor& tensor) {
      for (std::int64_t i = 0; i < tensor.elements(); ++i) numbers.push_back(tensor.at(i));
    };
    for (const Expr& input : inputs) add(input.grad());
    for (const Parameter* parameter : net.model.parameters())
      if (const Gradient* found = into.find(*parameter)) add(found->to_tensor());
  }
  return numbers;
}

TEST(RecursionThreads, RunPartsThatNeverReadEachOther) {
  for (const Chains::Of of : {Chains::Of::kLstms, Chains::Of::kOneLstm, Chains::Of::kOtherCells})
    for (const bool looks_up : {false, true}) {
      const Chains net(of);
      std::vector<double> expected;
      {
        const testing::Threads one(1);
        expected = numbers_of(net, looks_up);
      }
      for (const int count : {2, 4}) {
        const testing::Threads threads(count);
        for (int time = 0; time < 5; ++time) expect_close(numbers_of(net, looks_up), expected);
      }
    }
}

TEST(RecursionThreads, ShareWhatWasCompiled) {
  const Net net;
  const testing::Threads one(1);
  std::vector<std::vector<double>> all(4);
  std::vector<std::thread> threads;
  for (std::vector<double>& each : all) threads.emplace_back([&] { each = numbers_of(net, false); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<double>& each : all) EXPECT_EQ(each, all[0]);
}

}  // namespace
}  // namespace espalier::recursions
