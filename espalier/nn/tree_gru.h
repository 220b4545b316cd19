/// TreeGru: a gated unit for each child, and the mean of what they give (the TreeGRU of Chen et al., "ED-Batch", 2023).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct TreeGruOptions {
  /// How many children a node has.
  std::int32_t children = 2;
  /// Of the weights, gate by gate; biases start at zero.
  init::Initializer init = init::glorot();
};

/// For each child k:  [r_k z_k] = sigmoid(h_k U_k + b),  n_k = tanh((r_k * h_k) N_k + b_n)        h_k: [hidden]
/// h = mean over k of z_k * h_k + (1 - z_k) * n_k
/// Leaf: the same of x alone, with weights of its own; so x has the size of h.
/// Parameters: U_k [hidden, 2 hidden], N_k [hidden, hidden] for each child (U_0, N_0, U_1, ...), b [2 hidden], b_n
/// [hidden]; leaf.U, leaf.N, leaf.b, leaf.b_n.
class ESPALIER_EXPORT TreeGru {
 public:
  TreeGru(const Scope& scope, std::int32_t hidden, const TreeGruOptions& options = {});

  Expr leaf(Operand x) const;
  Expr operator()(Operand left, Operand right) const;
  /// Refuses another number of children.
  Expr operator()(const Operands& children) const;

  std::int32_t children() const { return static_cast<std::int32_t>(units_.size()); }
  std::int32_t hidden() const { return leaf_.N->shape()[0]; }

 private:
  struct Unit {
    const Parameter* U;
    const Parameter* N;
    const Parameter* b;
    const Parameter* b_n;
  };
  static Expr apply(const Unit& unit, const Operand& h);

  std::vector<Unit> units_;
  Unit leaf_{};
  std::shared_ptr<const cells::Core> leaf_cell_;
  std::shared_ptr<const cells::Core> cell_;
};

}  // namespace espalier::nn
