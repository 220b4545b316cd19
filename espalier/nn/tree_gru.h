/// TreeGru: a gated unit per child, and the mean of their results (the TreeGRU of Chen et al., "ED-Batch", 2023).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/recurrent_mask.h"

namespace espalier::nn {

struct TreeGruOptions {
  /// How many children a node has.
  std::int32_t children = 2;
  /// Initializer of the weights, applied to each gate; biases start at zero.
  init::Initializer init = init::glorot();
};

/// For each child k:  [r_k z_k] = sigmoid(h_k U_k + b),  n_k = tanh((r_k * h_k) N_k + b_n)        h_k: [hidden]
/// h = mean over k of z_k * h_k + (1 - z_k) * n_k
/// Leaf: the same with x in place of the only child, and with its own weights; so x has the size of h.
/// Parameters: U_k [hidden, 2 hidden], N_k [hidden, hidden] for each child (U_0, N_0, U_1, ...), b [2 hidden], b_n
/// [hidden]; leaf.U, leaf.N, leaf.b, leaf.b_n.
class ESPALIER_EXPORT TreeGru {
 public:
  TreeGru(const Scope& scope, std::int32_t hidden, const TreeGruOptions& options = {});

  Expr leaf(Operand x) const;
  Expr operator()(Operand left, Operand right) const;
  /// Refuses another number of children.
  Expr operator()(const Operands& children) const;

  /// The same with recurrent dropout: each h_k is masked in its products, and not where it is copied to h.
  Expr step(const Operands& children, const RecurrentMask& mask) const;
  /// The kinds of rows that rows() takes: a leaf reads a row of x, a node has as many children as the cell.
  static constexpr KindId kLeaf{0};
  static constexpr KindId kNode{1};
  /// The states of all nodes of a tree that is given as data, one row per row of the tree.
  Expr rows(Operand x, const Structure& tree) const;

  std::int32_t children() const { return static_cast<std::int32_t>(units_.size()); }
  std::int32_t hidden() const { return leaf_.N->shape()[0]; }
  /// The first of its weights, by which messages name the layer.
  const Parameter& weights() const { return *leaf_.U; }

 private:
  struct Unit {
    const Parameter* U;
    const Parameter* N;
    const Parameter* b;
    const Parameter* b_n;
  };
  /// `multiplied` is h, or h with a mask.
  static Expr apply(const Unit& unit, const Operand& h, const Operand& multiplied);
  /// `children` are the states of the children, and then, if there are twice as many, the same with a mask.
  static Expr node(std::span<const Unit> units, const Operands& children);
  void require_children(const Operands& children) const;
  Expr record(const Operands& children) const;

  std::vector<Unit> units_;
  Unit leaf_{};
  std::shared_ptr<const cells::Core> leaf_cell_;
  std::shared_ptr<const cells::Core> cell_;
  std::shared_ptr<const Recursion> recursion_;
};

}  // namespace espalier::nn
