/// ChildSumTreeLstm: the Child-Sum Tree-LSTM of Tai, Socher and Manning (2015), section 3.1, for nodes with any number
/// of children in no order.
#pragma once

#include <cstdint>
#include <memory>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/state.h"

namespace espalier::nn {

struct ChildSumTreeLstmOptions {
  /// Of the weights, gate by gate.
  init::Initializer init = init::glorot();
  /// Biases start at zero, those of forget gates at this.
  double forget_bias = 1;
};

/// [i o u] = x W + (sum over k of h_k) U + b         x: [input]   h_k, c_k: [hidden]
/// f_k = sigmoid(x W_f + h_k U_f + b_f)
/// c = sigmoid(i) * tanh(u) + sum over k of f_k * c_k
/// h = sigmoid(o) * tanh(c)
/// Without x, its products are left out.
/// Parameters: W [input, 3 hidden], U [hidden, 3 hidden], b [3 hidden] with the gates side by side in the order i, o,
/// u; W_f [input, hidden], U_f [hidden, hidden], b_f [hidden].
class ESPALIER_EXPORT ChildSumTreeLstm {
 public:
  ChildSumTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden,
                   const ChildSumTreeLstmOptions& options = {});

  /// A node without children.
  TreeState leaf(Operand x) const;
  TreeState operator()(Operand x, const Children& children) const;
  /// Refuses to have no children: then there is nothing to compute from.
  TreeState operator()(const Children& children) const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t hidden() const { return u_->shape()[0]; }

 private:
  TreeState node(const Operand* x, const Children& children) const;
  /// What is remembered of the children: the sum over k of sigmoid(f_k) * c_k.
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
};

}  // namespace espalier::nn
