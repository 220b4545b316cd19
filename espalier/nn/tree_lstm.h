/// BinaryTreeLstm and NaryTreeLstm: the N-ary Tree-LSTM of Tai, Socher and Manning (2015), section 3.2, for trees whose
/// nodes have at most N children in a fixed order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "espalier/base/export.h"
#include "espalier/base/source_line.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/state.h"

namespace espalier::nn {

struct TreeLstmOptions {
  /// Size of the input at inner nodes; 0: only leaves have one.
  std::int32_t node_input = 0;
  /// Initializer of the weights, applied to each gate.
  init::Initializer init = init::glorot();
  /// Initial bias of the forget gates; other biases start at zero.
  double forget_bias = 1;
};

/// Leaf:  [i o u] = x W_leaf + b_leaf                               x: [input]
///        c = sigmoid(i) * tanh(u),  h = sigmoid(o) * tanh(c)       h, c: [hidden]
/// Node:  [i o f_1 .. f_N u] = [h_1 .. h_N] U + b  (+ x W, if nodes have inputs)
///        c = sigmoid(i) * tanh(u) + sum over k of sigmoid(f_k) * c_k,  h = sigmoid(o) * tanh(c)
/// So each forget gate sees all children. Leaves have weights of their own, as in the authors' model of constituency
/// trees; each child's forget gate has its own columns of W and b too, which the paper shares between the children.
/// Parameters: leaf.W [input, 3 hidden], leaf.b [3 hidden], U [N hidden, (3 + N) hidden], b [(3 + N) hidden], and, if
/// nodes have inputs, W [node_input, (3 + N) hidden]; gates side by side in the order of the equations.
class ESPALIER_EXPORT NaryTreeLstm {
 public:
  NaryTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden, std::int32_t children,
               const TreeLstmOptions& options = {});

  TreeState leaf(Operand x) const;
  /// A missing child (TreeState{}, or any beyond the end of the list) counts as zeros. Refuses more than N children,
  /// none at all, and to go without x where nodes have inputs.
  TreeState operator()(const Children& children) const;
  TreeState operator()(Operand x, const Children& children) const;
  /// The kinds of rows that rows() takes: a leaf reads a row of x; a node has N children, some of which may be missing.
  static constexpr KindId kLeaf{0};
  static constexpr KindId kNode{1};
  /// The states of all nodes of a tree that is given as data, one row per row of the tree. Refuses (UsageError) if
  /// nodes of this cell have inputs.
  TreeState rows(Operand x, const Structure& tree) const;

  std::int32_t children() const { return children_; }
  std::int32_t hidden() const { return hidden_; }
  /// The weights of inner nodes, by which messages name the layer.
  const Parameter& weights() const { return *u_; }

 private:
  TreeState node(const Operand* x, const Children& children) const;
  TreeState leaf_state(const Expr& x, SourceLine where) const;
  TreeState node_state(std::span<const Expr> h, std::span<const Expr> c, const Expr* x, SourceLine where) const;
  void make_recursion();

  std::int32_t hidden_;
  std::int32_t children_;
  const Parameter* leaf_w_;
  const Parameter* leaf_b_;
  const Parameter* u_;
  const Parameter* b_;
  const Parameter* w_ = nullptr;
  std::shared_ptr<const cells::Core> leaf_cell_;
  std::shared_ptr<const cells::Core> cell_;
  std::shared_ptr<const Recursion> recursion_;  // of cells whose nodes have no inputs
};

/// NaryTreeLstm with N = 2, with the same equations and parameters.
class ESPALIER_EXPORT BinaryTreeLstm {
 public:
  BinaryTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden, const TreeLstmOptions& options = {});

  TreeState leaf(Operand x) const { return cell_.leaf(x); }
  TreeState operator()(const TreeState& left, const TreeState& right, const char* file = __builtin_FILE(),
                       std::int32_t line = __builtin_LINE()) const;
  TreeState operator()(Operand x, const TreeState& left, const TreeState& right) const;
  /// As in NaryTreeLstm.
  static constexpr KindId kLeaf = NaryTreeLstm::kLeaf;
  static constexpr KindId kNode = NaryTreeLstm::kNode;
  TreeState rows(Operand x, const Structure& tree) const { return cell_.rows(x, tree); }

  std::int32_t hidden() const { return cell_.hidden(); }
  const Parameter& weights() const { return cell_.weights(); }

 private:
  NaryTreeLstm cell_;
};

}  // namespace espalier::nn
