/// LstmCell: long short-term memory (Hochreiter and Schmidhuber, 1997; with forget gates, Gers et al., 2000); BiLstm:
/// one in each direction over a sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/source_line.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/state.h"

namespace espalier::nn {

struct LstmOptions {
  /// Initializer of the weights, applied to each gate.
  init::Initializer init = init::glorot();
  /// Initial bias of the forget gates, so that cells remember at first (Jozefowicz et al., 2015); other biases start
  /// at zero.
  double forget_bias = 1;
};

/// [i f o u] = x W + h U + b        x: [input]   h, c: [hidden]
/// c' = sigmoid(f) * c + sigmoid(i) * tanh(u)
/// h' = sigmoid(o) * tanh(c')
/// Parameters: W [input, 4 hidden], U [hidden, 4 hidden], b [4 hidden]; gates side by side in the order i, f, o, u.
class ESPALIER_EXPORT LstmCell {
 public:
  using State = LstmState;

  LstmCell(const Scope& scope, std::int32_t input, std::int32_t hidden, const LstmOptions& options = {});

  /// A state of zeros.
  State initial(Graph& graph, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) const;
  State operator()(Operand x, const State& state) const;
  /// Runs over the rows of x as a sequence, from its beginning or from its end, starting from a state of zeros. Returns
  /// the state after each element, as many rows. One node, however long the sequence is.
  State rows(Operand x, bool from_end = false) const;
  /// One step as a kind of a Recursion, for structures of your own: it reads x and one child, the state before.
  RecursionKind kind(std::string name = "lstm") const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t hidden() const { return u_->shape()[0]; }
  /// The first of its weights, by which messages name the layer.
  const Parameter& weights() const { return *w_; }

 private:
  LstmState step(std::span<const Expr> in, SourceLine where) const;

  const Parameter* w_;
  const Parameter* u_;
  const Parameter* b_;
  std::shared_ptr<const cells::Core> cell_;
  std::shared_ptr<const Recursion> recursion_;
};

/// y_t = [h of the forward cell at t, h of the backward cell at t]        x_t: [input]   ->   y_t: [2 hidden]
/// Parameters: forward.* and backward.*, as in LstmCell.
class ESPALIER_EXPORT BiLstm {
 public:
  BiLstm(const Scope& scope, std::int32_t input, std::int32_t hidden, const LstmOptions& options = {});

  /// One result per element of the sequence, which may be empty.
  std::vector<Expr> operator()(const Operands& sequence) const;
  /// The same over the rows of x; the result has one row per row of x.
  Expr rows(Operand x) const;

  /// The weights by which messages name it: the forward cell's.
  const Parameter& weights() const { return forward_.weights(); }
  const LstmCell& forward() const { return forward_; }
  const LstmCell& backward() const { return backward_; }

 private:
  std::vector<Expr> cell_by_cell(const Operands& sequence) const;

  LstmCell forward_;
  LstmCell backward_;
  std::shared_ptr<const Recursion> recursion_;  // of both
};

}  // namespace espalier::nn
