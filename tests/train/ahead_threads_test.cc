/// Recording ahead: the same numbers as one minibatch after the other, in the same order of calls. Label: threads.
#include "espalier/train/ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "espalier/nn/embedding.h"
#include "espalier/nn/fc.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/sgd.h"
#include "tests/support/threads.h"

namespace espalier::train {
namespace {

constexpr std::int32_t kAheadWords = 9;

/// Trees that lean to the left, with weights that are normalised, and dropout.
struct AheadNet {
  Model model{5};
  nn::Embedding words{model / "words", kAheadWords, 6};
  nn::BinaryTreeLstm cell{model / "cell", 6, 8};
  nn::FC layer{model / "layer", 8, 8, {.output_dropout = 0.2, .weight_norm = true}};
  nn::Linear classify{model / "classify", 8, 4};

  Expr loss(Graph& graph, std::int64_t i) const {
    graph.begin_instance(static_cast<std::uint64_t>(i));
    nn::TreeState state = cell.leaf(words(graph, static_cast<std::int32_t>(i % kAheadWords)));
    for (std::int64_t k = 0; k < i % 5; ++k)
      state = cell(state, cell.leaf(words(graph, static_cast<std::int32_t>((2 * i + k) % kAheadWords))));
    return cross_entropy(classify(layer(state.h)), static_cast<std::int32_t>(i % 4));
  }
  std::vector<float> numbers() const {
    std::vector<float> all;
    for (const Parameter* parameter : model.parameters())
      for (const float number : parameter->value().as<float>()) all.push_back(number);
    return all;
  }
};

class AheadWithThreads : public ::testing::TestWithParam<int> {
  testing::Threads threads_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Ahead, AheadWithThreads, ::testing::Values(1, 2, 3));

TEST_P(AheadWithThreads, GivesTheBitsOfOneMinibatchAfterTheOther) {
  constexpr std::int64_t kSteps = 60;
  AheadNet one;
  AheadNet other;
  std::vector<double> losses;
  optim::Sgd sgd(one.model, {.learning_rate = 0.1});
  StepCounter counter;
  Graph graph({.counter = &counter});
  for (std::int64_t i = 0; i < kSteps; ++i) {
    graph.clear();
    const Expr loss = one.loss(graph, i);
    sgd.minimise(loss);
    losses.push_back(loss.scalar());
  }
  optim::Sgd ahead_sgd(other.model, {.learning_rate = 0.1});
  StepCounter ahead_counter;
  Ahead ahead({.counter = &ahead_counter});
  std::vector<double> ahead_losses;
  const auto record = [&](Graph& to, std::int64_t i) { return other.loss(to, i); };
  const auto run = [&](const Expr& loss, std::int64_t i) {
    EXPECT_EQ(std::ssize(ahead_losses), i);
    ahead_sgd.minimise(loss);
    ahead_losses.push_back(loss.scalar());
  };
  ahead.run(kSteps, record, run);
  EXPECT_EQ(ahead_losses, losses);
  EXPECT_EQ(other.numbers(), one.numbers());
  EXPECT_EQ(ahead.statistics().runs, kSteps);
  EXPECT_EQ(ahead_counter.next(), counter.next());
}

TEST_P(AheadWithThreads, GivesTheBitsOfOneMinibatchAfterTheOtherWithAnOptimizerThatSteps) {
  constexpr std::int64_t kSteps = 30;
  AheadNet one;
  AheadNet other;
  optim::Adam adam(one.model, {.learning_rate = 0.01});
  StepCounter counter;
  for (std::int64_t i = 0; i < kSteps; ++i) {
    Graph graph({.counter = &counter});
    one.loss(graph, i).backward();
    adam.step();
  }
  optim::Adam ahead_adam(other.model, {.learning_rate = 0.01});
  StepCounter ahead_counter;
  Ahead ahead({.counter = &ahead_counter});
  ahead.run(
      kSteps, [&](Graph& to, std::int64_t i) { return other.loss(to, i); },
      [&](const Expr& loss, std::int64_t) {
        loss.backward();
        ahead_adam.step();
      });
  EXPECT_EQ(other.numbers(), one.numbers());
}

TEST_P(AheadWithThreads, RecordsTheNextOneMeanwhile) {
  std::atomic<std::int64_t> recorded{-1};
  Ahead ahead;
  std::int64_t ran = 0;
  const bool has_others = GetParam() > 1;
  ahead.run(
      8,
      [&](Graph& graph, std::int64_t i) {
        recorded = i;
        return graph.constant(static_cast<double>(i));
      },
      [&](const Expr& number, std::int64_t i) {
        EXPECT_EQ(number.scalar(), static_cast<double>(i));
        const std::int64_t next = has_others && i + 1 < 8 ? i + 1 : i;
        for (int look = 0; look < 10'000 && recorded < next; ++look)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(recorded, next);
        ++ran;
      });
  EXPECT_EQ(ran, 8);
}

TEST_P(AheadWithThreads, WhatIsRecordedMayBeAnything) {
  struct Two {
    Expr x;
    std::string name;
  };
  Ahead ahead;
  std::string text;
  const auto record = [](Graph& graph, std::int64_t i) {
    return Two{graph.constant(static_cast<double>(i)), std::to_string(i)};
  };
  const auto run = [&](const Two& two, std::int64_t) {
    text += two.name + "=" + std::to_string(std::lround(two.x.scalar())) + " ";
  };
  ahead.run(3, record, run);
  ahead.run(0, record, run);
  ahead.run(1, record, run);
  EXPECT_EQ(text, "0=0 1=1 2=2 0=0 ");
}

TEST_P(AheadWithThreads, ARefusalWhileRecordingComesAfterTheOneBefore) {
  AheadNet net;
  optim::Sgd sgd(net.model, {.learning_rate = 0.1});
  Ahead ahead;
  std::int64_t ran = 0;
  const auto record = [&](Graph& graph, std::int64_t i) {
    if (i == 3) throw std::runtime_error("no such file");
    return net.loss(graph, i);
  };
  const auto run = [&](const Expr& loss, std::int64_t) {
    sgd.minimise(loss);
    ++ran;
  };
  EXPECT_THROW(ahead.run(5, record, run), std::runtime_error);
  EXPECT_EQ(ran, 3) << "0, 1 and 2";
  ahead.run(3, record, run);
  EXPECT_EQ(ran, 6) << "it can be used again";
}

TEST_P(AheadWithThreads, AfterARunThatThrowsNoFurtherOneIsCalled) {
  AheadNet net;
  Ahead ahead;
  std::int64_t ran = 0;
  const auto run = [&](const Expr& loss, std::int64_t i) {
    ++ran;
    if (i == 1) throw std::runtime_error("enough");
    loss.value();
  };
  EXPECT_THROW(ahead.run(
                   5, [&](Graph& graph, std::int64_t i) { return net.loss(graph, i); }, run),
               std::runtime_error);
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace espalier::train
