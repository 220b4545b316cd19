/// B1: a binary Tree-LSTM (Tai et al., 2015) on sentiment trees, with a label at every node.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

struct TreeLstmSizes {
  std::int32_t embedding = 300;
  std::int32_t hidden = 150;
};

std::unique_ptr<Workload> tree_lstm_workload(std::shared_ptr<const DataSet<BinaryTree>> data,
                                             const TreeLstmSizes& sizes);

}  // namespace espalier::bench
