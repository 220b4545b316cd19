#include "espalier/train/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"

namespace espalier::train {
namespace {

constexpr std::int32_t kWords = 11;

/// Words of a sentence are added up and scored.
struct Net {
  Model model{3};
  nn::Embedding words{model / "words", kWords, 6};
  nn::Linear classify{model / "classify", 6, 4};

  Expr loss(Graph& graph, std::int64_t i) const {
    Expr sum_of_words = words(graph, static_cast<std::int32_t>(i % kWords));
    for (std::int64_t k = 0; k < i % 4; ++k)
      sum_of_words = tanh(sum_of_words + words(graph, static_cast<std::int32_t>((3 * i + k) % kWords)));
    return cross_entropy(classify(sum_of_words), static_cast<std::int32_t>(i % 4));
  }
};

void differentiate(Lanes& lanes, const Net& net, std::int64_t count) {
  lanes.run(count, [&](Lane& lane, std::int64_t begin, std::int64_t end) {
    std::vector<Expr> losses;
    for (std::int64_t i = begin; i < end; ++i) {
      lane.graph.begin_instance(static_cast<std::uint64_t>(i));
      losses.push_back(net.loss(lane.graph, i));
    }
    sum(losses).backward({.into = &lane.gradients, .wanted = {}});
  });
}

std::vector<double> numbers_of(const Net& net, const Gradients& gradients) {
  std::vector<double> numbers;
  for (const Parameter* parameter : net.model.parameters()) {
    const Gradient* gradient = gradients.find(*parameter);
    const Tensor whole = gradient == nullptr ? Tensor(parameter->shape()) : gradient->to_tensor();
    for (std::int64_t i = 0; i < whole.elements(); ++i) numbers.push_back(whole.at(i));
  }
  return numbers;
}

class WithThreads : public ::testing::TestWithParam<int> {
  testing::Threads threads_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Lanes, WithThreads, ::testing::Values(1, 2, 3, 5));

TEST_P(WithThreads, GiveTheGradientsOfOneGraph) {
  const Net net;
  Lanes lanes;
  for (const std::int64_t count : {1, 2, 7, 40}) {
    differentiate(lanes, net, count);
    EXPECT_EQ(std::ssize(lanes.used()), std::min<std::int64_t>(count, GetParam()));
    Graph graph;
    std::vector<Expr> losses;
    for (std::int64_t i = 0; i < count; ++i) losses.push_back(net.loss(graph, i));
    Gradients whole;
    sum(losses).backward({.into = &whole, .wanted = {}});
    const std::vector<double> expected = numbers_of(net, whole);
    const std::vector<double> actual = numbers_of(net, lanes.gradients());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-5) << i;
  }
}

TEST_P(WithThreads, GiveTheSameBitsEveryTime) {
  const Net net;
  Lanes first;
  Lanes second;
  differentiate(first, net, 3);  // its memory is used again
  differentiate(first, net, 33);
  differentiate(second, net, 33);
  EXPECT_EQ(numbers_of(net, first.gradients()), numbers_of(net, second.gradients()));
  EXPECT_EQ(numbers_of(net, first.gradients()), numbers_of(net, second.gradients())) << "asked for again";
}

TEST_P(WithThreads, GiveTheGradientsOfTheirParts) {
  const Net net;
  Lanes lanes;
  differentiate(lanes, net, 7);
  const auto parts = static_cast<std::size_t>(std::min(7, GetParam()));
  ASSERT_EQ(lanes.gradients_of_parts().size(), parts);
  for (std::size_t i = 0; i < parts; ++i) EXPECT_EQ(lanes.gradients_of_parts()[i], &lanes.used()[i]->gradients);
  Gradients& sum_of_all = lanes.gradients();
  EXPECT_EQ(lanes.gradients_of_parts(), std::vector<Gradients*>{&sum_of_all}) << "which has all of them";
  lanes.run(0, [](Lane&, std::int64_t, std::int64_t) { FAIL(); });
  EXPECT_TRUE(lanes.gradients_of_parts().empty());
}

TEST_P(WithThreads, CoverEveryInstanceOnceAndInOrder) {
  Lanes lanes;
  std::vector<int> seen(20);
  std::vector<Lane*> by_instance(20);
  lanes.run(20, [&](Lane& lane, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      ++seen[static_cast<std::size_t>(i)];
      by_instance[static_cast<std::size_t>(i)] = &lane;
    }
  });
  EXPECT_EQ(seen, std::vector<int>(20, 1));
  EXPECT_EQ(by_instance.front(), lanes.used().front());
  EXPECT_EQ(by_instance.back(), lanes.used().back());
}

/// The parts, as their ends.
std::vector<std::int64_t> parts_of(const std::vector<std::int64_t>& sizes) {
  Lanes lanes;
  std::vector<std::int64_t> ends(sizes.size(), -1);
  lanes.run(sizes, [&](Lane&, std::int64_t begin, std::int64_t end) { ends[static_cast<std::size_t>(begin)] = end; });
  std::erase(ends, -1);
  return ends;
}

TEST_P(WithThreads, DivideInstancesByTheirSizes) {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(1 + random.uniform(0, 50)));
    for (std::int64_t& size : sizes) size = static_cast<std::int64_t>(random.uniform(0, 30));
    const std::vector<std::int64_t> ends = parts_of(sizes);
    ASSERT_EQ(std::ssize(ends), std::min<std::int64_t>(std::ssize(sizes), GetParam()));
    ASSERT_EQ(ends.back(), std::ssize(sizes));
    const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      ASSERT_LT(begin, end);
      const std::int64_t size = std::accumulate(sizes.begin() + begin, sizes.begin() + end, std::int64_t{0});
      // Both ends of a part are at most half an instance from their places.
      ASSERT_LE(size, total / std::ssize(ends) + largest + 1);
      begin = end;
    }
  }
}

TEST_P(WithThreads, DivideInstancesOfUnlikeSizes) {
  const auto parts = std::min(4, GetParam());
  EXPECT_EQ(std::ssize(parts_of({100, 1, 1, 1})), parts);
  EXPECT_EQ(std::ssize(parts_of({1, 1, 1, 100})), parts);
  EXPECT_EQ(std::ssize(parts_of({0, 0, 0, 0})), parts);
  EXPECT_TRUE(parts_of({}).empty());
  EXPECT_EQ(parts_of({100, 1, 1, 1})[0], GetParam() == 1 ? 4 : 1);
  EXPECT_EQ(testing::refusal_of([] { parts_of({3, -1}); }), "lanes: a size is expected, and -1 is given");
}

TEST_P(WithThreads, HaveAsManyInstancesAsAskedFor) {
  for (const std::int64_t count : {1, 7, 8, 15, 16, 100}) {
    Lanes lanes;
    const auto parts = std::clamp<std::int64_t>(count / 8, 1, GetParam());
    const auto nothing = [](Lane&, std::int64_t, std::int64_t) {};
    lanes.run(count, nothing, 8);
    EXPECT_EQ(std::ssize(lanes.used()), parts);
    lanes.run(std::vector<std::int64_t>(static_cast<std::size_t>(count), 3), nothing, 8);
    EXPECT_EQ(std::ssize(lanes.used()), parts);
  }
  EXPECT_EQ(testing::refusal_of([] {
              Lanes().run(
                  3, [](Lane&, std::int64_t, std::int64_t) {}, 0);
            }),
            "lanes: a part must have 1 instance or more, not 0");
}

TEST_P(WithThreads, AddUpTheirCounts) {
  const Net net;
  Lanes lanes;
  differentiate(lanes, net, 24);
  std::int64_t nodes = 0;
  std::int64_t peak = 0;
  for (const Lane* lane : lanes.used()) {
    nodes += lane->graph.statistics().nodes;
    peak += lane->graph.statistics().peak_bytes;
  }
  EXPECT_GT(nodes, 0);
  EXPECT_EQ(lanes.statistics().nodes, nodes);
  EXPECT_EQ(lanes.statistics().peak_bytes, peak);
}

TEST_P(WithThreads, PassOnWhatAPartThrowsAndCanBeUsedAfterwards) {
  const Net net;
  Lanes lanes;
  const auto fails = [](Lane&, std::int64_t begin, std::int64_t) {
    if (begin == 0) throw std::runtime_error("the first part");
  };
  EXPECT_THROW(lanes.run(9, fails), std::runtime_error);
  differentiate(lanes, net, 9);
  Lanes fresh;
  differentiate(fresh, net, 9);
  EXPECT_EQ(numbers_of(net, lanes.gradients()), numbers_of(net, fresh.gradients()));
}

TEST(Lanes, RefuseGradientsOfNothing) {
  Lanes lanes;
  const auto never = [](Lane&, std::int64_t, std::int64_t) { FAIL(); };
  lanes.run(0, never);
  EXPECT_EQ(testing::refusal_of([&] { lanes.gradients(); }), "lanes: gradients are asked for, and nothing was run");
}

}  // namespace
}  // namespace espalier::train
