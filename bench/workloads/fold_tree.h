/// B0: the benchmark of TensorFlow Fold (Looks et al., 2017): a cell of two layers on trees of 128 leaves.
///
///   a = relu([s_left; s_right] W1 + b1)                               s: [state]   a: [state]
///   [f_left f_right i u] = a W2 + b2
///   s = sigmoid(f_left) s_left + sigmoid(f_right) s_right + sigmoid(i) tanh(u)
///
/// Leaves are rows of a table. The loss is the sum of the elements of the root's s, which is also what is asked for.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

std::unique_ptr<Workload> fold_tree_workload(std::shared_ptr<const DataSet<BinaryTree>> data, TreeShape shape,
                                             std::int32_t state = 1024);

}  // namespace espalier::bench
