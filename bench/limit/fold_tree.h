/// The limit of B0: the cell of Fold's benchmark on binary trees, written by hand for whole minibatches.
///
/// States lie in slots (tree_layout.h), so that those of two children are one operand row. A level is two products and
/// two loops forward, and the same backward. Leaves are rows of a table and nothing is computed for them: computing
/// equal ones once makes no difference here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "bench/data/sets.h"
#include "bench/limit/buffer.h"
#include "bench/limit/fold_loops.h"
#include "bench/limit/lane_sums.h"
#include "bench/limit/layer.h"
#include "bench/limit/limit_runner.h"
#include "bench/limit/table.h"
#include "bench/limit/tree_layout.h"

namespace espalier::bench {

class FoldTreeLimit : public LimitRunner {
 public:
  /// The parameters of `model` are those of workloads/fold_tree.h.
  FoldTreeLimit(std::shared_ptr<const DataSet<BinaryTree>> data, const Model& model);

 private:
  double differentiate(std::span<const std::int32_t> batch, float scale) override;
  double evaluate(std::span<const std::int32_t> batch) override;

  void lay_out(std::span<const std::int32_t> batch, bool training);
  void forward(bool keep);
  double sum_of_roots() const;
  void backward(float scale);
  void add_gradients();

  std::shared_ptr<const DataSet<BinaryTree>> data_;
  Table table_;
  Layer first_;
  Layer second_;
  LaneSums first_bias_;
  LaneSums second_bias_;
  std::int64_t size_;

  TreeLayout layout_;
  FoldRows rows_;
  Buffer<float> s_;
  Buffer<float> ds_;
  Buffer<float> a_;  // [inner, size]: what is between the products
  Buffer<float> da_;
  Buffer<float> gates_;
};

}  // namespace espalier::bench
