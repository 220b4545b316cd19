/// ChildSumTreeLstm: the Child-Sum Tree-LSTM of Tai, Socher and Manning (2015), section 3.1, for nodes with any number
/// of children in no order.
#pragma once

#include <cstdint>
#include <memory>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/state.h"

namespace espalier::nn {

struct ChildSumTreeLstmOptions {
  /// Initializer of the weights, applied to each gate.
  init::Initializer init = init::glorot();
  /// Initial bias of the forget gates; other biases start at zero.
  double forget_bias = 1;
};

/// [i o u] = x W + (sum over k of h_k) U + b         x: [input]   h_k, c_k: [hidden]
/// f_k = sigmoid(x W_f + h_k U_f + b_f)
/// c = sigmoid(i) * tanh(u) + sum over k of f_k * c_k
/// h = sigmoid(o) * tanh(c)
/// Without x, the products with x are skipped.
/// Parameters: W [input, 3 hidden], U [hidden, 3 hidden], b [3 hidden] with the gates side by side in the order i, o,
/// u; W_f [input, hidden], U_f [hidden, hidden], b_f [hidden].
class ESPALIER_EXPORT ChildSumTreeLstm {
 public:
  ChildSumTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden,
                   const ChildSumTreeLstmOptions& options = {});

  /// A node without children; the same as (*this)(x, {}).
  TreeState leaf(Operand x) const;
  /// A missing child (TreeState{}) is skipped.
  TreeState operator()(Operand x, const Children& children) const;
  /// Refuses (UsageError) a node without children, since there is nothing to compute its state from.
  TreeState operator()(const Children& children) const;

  /// The kinds of rows that rows() takes. Both have any number of children; only kNode reads a row of x.
  static constexpr KindId kNode{0};
  static constexpr KindId kNodeWithoutX{1};
  /// The states of all nodes of a tree or DAG that is given as data, one row per row of the structure. The gates of a
  /// kNodeWithoutX without children are their biases.
  TreeState rows(Operand x, const Structure& tree) const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t hidden() const { return u_->shape()[0]; }
  /// The first of its weights, by which messages name the layer.
  const Parameter& weights() const { return *w_; }

 private:
  TreeState node(const Operand* x, const Children& children) const;
  void make_recursion();
  /// The sum over the children k of sigmoid(f_k) * c_k.
  Expr remembered(const Operand* x, const Children& children) const;

  const Parameter* w_;
  const Parameter* u_;
  const Parameter* b_;
  const Parameter* w_f_;
  const Parameter* u_f_;
  const Parameter* b_f_;
  std::shared_ptr<const cells::Core> leaf_cell_;
  std::shared_ptr<const cells::Core> cell_;
  std::shared_ptr<const cells::Core> forget_cell_;
  std::shared_ptr<const Recursion> recursion_;
};

}  // namespace espalier::nn
