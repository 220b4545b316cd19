#include "bench/workloads/fold_tree.h"

#include <gtest/gtest.h>

#include "tests/bench/agreement.h"
#include "tests/bench/random_trees.h"

namespace espalier::bench {
namespace {

TEST(FoldTreeLimit, ComputesWhatEspalierComputes) {
  expect_limit_agrees(*fold_tree_workload(random_trees(20, 1), TreeShape::kRandom, 18));
}

TEST(FoldTreeLimit, ComputesTheSameWithWeightsLaidOut) {
  expect_limit_agrees(*fold_tree_workload(random_trees(9, 1), TreeShape::kRandom, 64));
}

TEST(FoldTreeLimit, ComputesChains) {
  auto data = std::make_shared<const DataSet<BinaryTree>>(fold_trees(TreeShape::kChain, 3));
  expect_limit_agrees(*fold_tree_workload(data, TreeShape::kChain, 8));
}

}  // namespace
}  // namespace espalier::bench
