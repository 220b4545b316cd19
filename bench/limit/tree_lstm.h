/// The limit of B1: a binary Tree-LSTM with a classifier at every node, written by hand for whole minibatches.
///
/// States lie in slots (tree_layout.h): the h of two children are one operand row of their parent, and the h of all
/// nodes are one matrix for the classifier. All leaves are one product. A level is one product for all gates and one
/// loop; backward one loop and one product. The gradients of all weights are one product each over all rows, at the
/// end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/data/sets.h"
#include "bench/limit/buffer.h"
#include "bench/limit/distinct.h"
#include "bench/limit/head.h"
#include "bench/limit/lane_sums.h"
#include "bench/limit/layer.h"
#include "bench/limit/limit_runner.h"
#include "bench/limit/table.h"
#include "bench/limit/tree_layout.h"
#include "bench/limit/tree_lstm_loops.h"

namespace espalier::bench {

class TreeLstmLimit : public LimitRunner {
 public:
  /// The parameters of `model` are those of workloads/tree_lstm.h.
  TreeLstmLimit(std::shared_ptr<const DataSet<BinaryTree>> data, const Model& model, bool dedupe);

 private:
  double differentiate(std::span<const std::int32_t> batch, float scale) override;
  double evaluate(std::span<const std::int32_t> batch) override;

  void lay_out(std::span<const std::int32_t> batch);
  void make_room(bool training);
  /// All h and c.
  void forward(bool keep);
  void leaves_forward(bool keep);
  double losses(float scale);
  void inner_backward();
  void leaves_backward();
  void add_gradients();
  /// What equal leaves have in common: the state of the first goes to the slots of all, the gradients of all to the
  /// slot of the first.
  void copy_states(std::int64_t begin, std::int64_t end);
  void join_gradients(std::int64_t begin, std::int64_t end);

  std::shared_ptr<const DataSet<BinaryTree>> data_;
  bool dedupe_;
  Table words_;
  Layer leaf_;
  Layer node_;
  Head head_;
  LaneSums leaf_bias_;
  LaneSums node_bias_;
  std::int64_t hidden_;

  TreeLayout layout_;
  DistinctRows distinct_;
  std::vector<std::int32_t> first_slots_;  // of distinct leaves
  std::vector<double> losses_;             // of the lanes

  TreeLstmRows inner_;
  TreeLstmRows leaves_;
  Buffer<float> x_;  // [leaves, embedding]
  Buffer<float> dx_;
  Buffer<float> leaf_gates_;
  Buffer<float> leaf_tanh_c_;
  Buffer<float> gates_;
  Buffer<float> tanh_c_;
  Buffer<float> h_;
  Buffer<float> c_;
  Buffer<float> dh_;
  Buffer<float> dc_;
};

}  // namespace espalier::bench
