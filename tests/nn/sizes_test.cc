/// Sizes beyond memory are refused with the numbers (ResourceError), and leave nothing half-made behind.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_gru.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::refusal_of;

TEST(SizesBeyondMemory, OfLayersAreRefusedAndTheModelIsUnchanged) {
  Model model;
  EXPECT_EQ(refusal_of<ResourceError>([&] { nn::Linear(model / "layer", 2'000'000'000, 2'000'000'000); }),
            "shape: [2000000000, 2000000000] has 4e+18 elements, and the most there can be is 17592186044416");
  EXPECT_EQ(refusal_of<ResourceError>([&] { nn::Linear(model / "layer", 4'000'000, 4'000'000); }),
            "tensor float32[4000000, 4000000]: 64000000000000 bytes are needed, more than there is memory for");
  EXPECT_TRUE(model.parameters().empty());
  const nn::Linear small(model / "layer", 2, 3);
  EXPECT_EQ(model.parameters().size(), 2U);
}

TEST(SizesBeyondMemory, OfCellsAreRefusedThoughTheirGatesLieSideBySide) {
  constexpr std::int32_t kHuge = 2'000'000'000;
  Model model;
  const auto refused = [&](const auto& make, const std::string& size) {
    EXPECT_EQ(refusal_of<UsageError>(make), "shape: the size of an axis must be 0 to 2147483647, not " + size);
  };
  refused([&] { nn::LstmCell(model / "lstm", 1, kHuge); }, "8000000000");
  refused([&] { nn::GruCell(model / "gru", 1, kHuge); }, "6000000000");
  refused([&] { nn::BinaryTreeLstm(model / "tree", 1, kHuge); }, "6000000000");
  refused([&] { nn::ChildSumTreeLstm(model / "sum", 1, kHuge); }, "6000000000");
  refused([&] { nn::TreeGru(model / "tree_gru", kHuge); }, "4000000000");
  EXPECT_TRUE(model.parameters().empty());
  EXPECT_EQ(refusal_of<ResourceError>([&] { nn::NaryTreeLstm(model / "wide", 1, 10'000, 200'000); }),
            "shape: [2000000000, 2000030000] has 4e+18 elements, and the most there can be is 17592186044416");
}

TEST(SizesBeyondMemory, OfLeavesAreRefusedAndTheGraphIsUnchanged) {
  Graph graph;
  const std::string sentence =
      "tensor float32[4000000, 4000000]: 64000000000000 bytes are needed, more than there is memory for";
  EXPECT_EQ(refusal_of<ResourceError>([&] { graph.constant({4'000'000, 4'000'000}, 1); }), sentence);
  EXPECT_EQ(refusal_of<ResourceError>([&] { graph.constant({4'000'000, 4'000'000}, 0); }), sentence);
  EXPECT_EQ(graph.size(), 0);
}

/// Both engines.
class SizesOfARun : public ::testing::TestWithParam<Execution> {};
INSTANTIATE_TEST_SUITE_P(Engines, SizesOfARun, ::testing::Values(Execution::kKernels, Execution::kPlain));

TEST_P(SizesOfARun, BeyondMemoryAreRefusedAndTheGraphGoesOn) {
  Graph graph({.execution = GetParam()});
  const Expr column = graph.constant({4'000'000, 1}, 0.5);
  const Expr line = graph.constant({1, 4'000'000}, 2);
  const Expr product = matmul(column, line);
  const Expr small = tanh(slice(line, 0, 3, 1));
  for (int time = 0; time < 2; ++time)
    EXPECT_NE(refusal_of<ResourceError>([&] { product.value(); }).find(": 64000000000000 bytes are needed"),
              std::string::npos);
  EXPECT_NEAR(small.value().at(2), std::tanh(2.0), 1e-6);
  const std::int32_t size = graph.size();
  EXPECT_EQ(refusal_of<ResourceError>([&] {
              matmul(graph.constant({5'000'000, 1}, 1), graph.constant({1, 5'000'000}, 1));
            }),
            "shape: [5000000, 5000000] has 2.5e+13 elements, and the most there can be is 17592186044416");
  EXPECT_EQ(graph.size(), size + 2);
}

TEST_P(SizesOfARun, WhoseSumOverflowsAreRefused) {
  Graph graph({.execution = GetParam()});
  const Expr product = matmul(graph.constant({4'000'000, 1}, 0.5), graph.constant({1, 4'000'000}, 2));
  std::vector<Expr> all;
  for (int i = 0; i < 200'000; ++i) all.push_back(tanh(product));
  // 2 * 200,001 times 64 terabytes are more than 64 bits can count.
  EXPECT_THROW(sum(all).value(), ResourceError);
}

}  // namespace
}  // namespace espalier
