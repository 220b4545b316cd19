#include "bench/workloads/tree_lstm.h"

#include <gtest/gtest.h>

#include "tests/bench/agreement.h"
#include "tests/bench/random_trees.h"

namespace espalier::bench {
namespace {

TEST(TreeLstmLimit, ComputesWhatEspalierComputes) {
  expect_limit_agrees(*tree_lstm_workload(random_trees(40, 5), {.embedding = 24, .hidden = 20}));
}

TEST(TreeLstmLimit, ComputesTheSameWithWeightsLaidOut) {
  expect_limit_agrees(*tree_lstm_workload(random_trees(15, 3), {.embedding = 70, .hidden = 64}));
}

TEST(TreeLstmLimit, ComputesASingleLeaf) {
  auto data = std::make_shared<DataSet<BinaryTree>>(*random_trees(10, 5));
  data->instances = {data->instances[1]};
  expect_limit_agrees(*tree_lstm_workload(data, {.embedding = 8, .hidden = 7}));
}

}  // namespace
}  // namespace espalier::bench
