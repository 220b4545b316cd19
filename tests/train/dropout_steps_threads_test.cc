/// Every minibatch draws masks of its own, however a training loop is written: new graphs, one that is cleared, lanes,
/// recording ahead, accumulated gradients. Label: threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/optim/sgd.h"
#include "espalier/train/ahead.h"
#include "espalier/train/lanes.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"

namespace espalier::train {
namespace {

using Mask = std::string;  // a digit for each element: whether it is kept

Mask mask_of(const Expr& dropped) {
  Mask result;
  const Tensor value = dropped.value();
  for (const float number : value.as<float>()) result += number != 0 ? '1' : '0';
  return result;
}

/// Records an instance that drops half of 32 ones.
Expr drop_half(Graph& graph) {
  graph.begin_instance();
  return dropout(graph.constant({32}, 1), 0.5);
}

constexpr int kMinibatches = 4;
constexpr int kInstances = 3;

/// The masks of a training loop, minibatch by minibatch; all of them should differ.
using Masks = std::vector<Mask>;

void expect_all_differ(const Masks& masks) {
  EXPECT_EQ(std::ssize(masks), kMinibatches * kInstances);
  EXPECT_EQ(std::set<Mask>(masks.begin(), masks.end()).size(), masks.size());
}

void add_minibatch(Graph& graph, Masks& to) {
  for (int i = 0; i < kInstances; ++i) to.push_back(mask_of(drop_half(graph)));
}

Masks with_new_graphs(const GraphOptions& options) {
  Masks masks;
  for (int batch = 0; batch < kMinibatches; ++batch) {
    Graph graph(options);
    add_minibatch(graph, masks);
  }
  return masks;
}

Masks with_one_graph(const GraphOptions& options) {
  Masks masks;
  Graph graph(options);
  for (int batch = 0; batch < kMinibatches; ++batch) {
    graph.clear();
    add_minibatch(graph, masks);
  }
  return masks;
}

Masks with_lanes(const GraphOptions& options) {
  Masks masks;
  Lanes lanes(options);
  for (int batch = 0; batch < kMinibatches; ++batch) {
    Masks of_batch(kInstances);
    lanes.run(kInstances, [&](Lane& lane, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) of_batch[static_cast<std::size_t>(i)] = mask_of(drop_half(lane.graph));
    });
    masks.insert(masks.end(), of_batch.begin(), of_batch.end());
  }
  return masks;
}

Masks with_ahead(const GraphOptions& options) {
  Masks masks;
  Ahead ahead(options);
  ahead.run(
      kMinibatches,
      [](Graph& graph, std::int64_t) {
        std::vector<Expr> dropped;
        for (int i = 0; i < kInstances; ++i) dropped.push_back(drop_half(graph));
        return dropped;
      },
      [&](const std::vector<Expr>& dropped, std::int64_t) {
        for (const Expr& each : dropped) masks.push_back(mask_of(each));
      });
  return masks;
}

class DropoutSteps : public ::testing::TestWithParam<int> {
  testing::Threads threads_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(DropoutSteps, DropoutSteps, ::testing::Values(1, 2, 3));

TEST_P(DropoutSteps, DifferWithoutTheUserDoingAnything) {
  expect_all_differ(with_new_graphs({}));
  expect_all_differ(with_one_graph({}));
  expect_all_differ(with_lanes({}));
  expect_all_differ(with_ahead({}));
}

TEST_P(DropoutSteps, AreTheSameHoweverTheLoopIsWritten) {
  StepCounter counter;
  const auto from_the_start = [&](auto loop) {
    counter.set_next(0);
    const Masks masks = loop(GraphOptions{.seed = 7, .counter = &counter});
    EXPECT_EQ(counter.next(), kMinibatches);
    return masks;
  };
  const Masks expected = from_the_start(with_new_graphs);
  expect_all_differ(expected);
  EXPECT_EQ(from_the_start(with_one_graph), expected);
  EXPECT_EQ(from_the_start(with_lanes), expected);
  EXPECT_EQ(from_the_start(with_ahead), expected);
}

TEST_P(DropoutSteps, GoOnWhereASavedCounterStood) {
  StepCounter counter;
  const GraphOptions options{.seed = 7, .counter = &counter};
  with_one_graph(options);
  const std::uint64_t saved = counter.next();
  const Masks expected = with_one_graph(options);

  StepCounter restored(saved);
  EXPECT_EQ(with_new_graphs({.seed = 7, .counter = &restored}), expected);
}

TEST_P(DropoutSteps, CanBeGiven) {
  const auto masks_of = [](std::uint64_t step) {
    Graph graph({.seed = 7, .step = step});
    return mask_of(drop_half(graph));
  };
  Graph graph({.seed = 7});
  for (const std::uint64_t step : {5, 6, 5}) {  // through clear()
    graph.clear();
    graph.set_step(step);
    EXPECT_EQ(mask_of(drop_half(graph)), masks_of(step));
    EXPECT_EQ(graph.step(), step);
  }
  Lanes lanes({.seed = 7});
  lanes.run(2, [&](Lane& lane, std::int64_t begin, std::int64_t) {
    lane.graph.set_step(9);
    const Mask mask = mask_of(drop_half(lane.graph));
    EXPECT_EQ(mask == masks_of(9), begin == 0) << "another instance has another mask";
  });
  Ahead ahead({.seed = 7});
  ahead.run(
      3,
      [](Graph& to, std::int64_t i) {
        to.set_step(static_cast<std::uint64_t>(10 + i));
        return drop_half(to);
      },
      [&](const Expr& dropped, std::int64_t i) {
        EXPECT_EQ(mask_of(dropped), masks_of(static_cast<std::uint64_t>(10 + i)));
      });
}

TEST(DropoutStep, GivenInTheOptionsHoldsForAllMinibatches) {
  Graph graph({.seed = 7, .step = 3});
  const Mask first = mask_of(drop_half(graph));
  graph.clear();
  EXPECT_EQ(mask_of(drop_half(graph)), first);
}

TEST(DropoutStep, IsNotChangedOnceRandomOpsAreRecorded) {
  Graph graph({.step = 3});
  drop_half(graph);
  EXPECT_EQ(testing::refusal_of([&] { graph.set_step(4); }),
            "set_step: this graph has recorded random ops of step 3, and step 4 is given\n"
            "  hint: call it before the first of them, or after clear()");
  graph.clear();
  graph.set_step(4);
  EXPECT_EQ(graph.step(), 4U);
}

TEST(DropoutStep, IsTakenByGraphsThatDropOnly) {
  StepCounter counter;
  {
    Graph evaluation({.counter = &counter, .training = false});
    drop_half(evaluation);
  }
  {
    Graph without({.counter = &counter});
    tanh(without.constant({3}, 1)).value();
    without.clear();
  }
  EXPECT_EQ(counter.next(), 0U);
  const auto noisy = cell("noisy", [](Expr x) { return dropout(x, 0.5); });
  Graph graph({.counter = &counter});  // what a cell's function does is recorded in a graph of its own first
  noisy(graph.constant({8}, 1));
  drop_half(graph);
  EXPECT_EQ(counter.next(), 1U);
}

TEST(DropoutStep, OfAccumulatedMinibatchesDiffers) {
  Model model{3};
  const nn::Linear layer(model / "layer", 32, 1);
  const nn::Dropout half(0.5);
  std::set<std::string> gradients;
  Tensor before({32, 1});
  for (int batch = 0; batch < kMinibatches; ++batch) {  // no update in between
    Graph graph;
    graph.begin_instance();
    sum_elements(layer(half(graph.constant({32}, 1)))).backward();
    const Tensor after = model.gradients().find(model.parameter("layer.W"))->to_tensor();
    std::string added;
    for (std::int64_t i = 0; i < after.elements(); ++i) added += after.at(i) != before.at(i) ? '1' : '0';
    gradients.insert(added);
    before = after;
  }
  EXPECT_EQ(std::ssize(gradients), kMinibatches);
}

}  // namespace
}  // namespace espalier::train
