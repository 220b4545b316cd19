/// GruCell: gated recurrent unit (Cho et al., 2014), in the form whose reset gate acts after the product, so that all
/// gates are one product.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "espalier/base/export.h"
#include "espalier/base/source_line.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/recurrent_mask.h"

namespace espalier::nn {

struct GruOptions {
  /// Initializer of the weights, applied to each gate; biases start at zero.
  init::Initializer init = init::glorot();
};

/// [r z n] = x W + b,  [r' z' n'] = h U + b_h        x: [input]   h: [hidden]
/// h' = (1 - z'') * tanh(n + r'' * n') + z'' * h     with r'' = sigmoid(r + r'), z'' = sigmoid(z + z')
/// Parameters: W [input, 3 hidden], b [3 hidden], U [hidden, 3 hidden], b_h [3 hidden]; gates side by side in the order
/// r, z, n.
class ESPALIER_EXPORT GruCell {
 public:
  GruCell(const Scope& scope, std::int32_t input, std::int32_t hidden, const GruOptions& options = {});

  /// A state of zeros.
  Expr initial(Graph& graph, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) const;
  Expr operator()(Operand x, Operand h) const;
  /// The same with recurrent dropout: h is masked in its product with U, and not where it is copied to the next state.
  Expr step(Operand x, Operand h, const RecurrentMask& mask) const;
  /// Runs over the rows of x as a sequence, from its beginning or from its end, starting from a state of zeros. Returns
  /// the state after each element, as many rows. One node, however long the sequence is.
  Expr rows(Operand x, bool from_end = false) const;
  /// One step as a kind of a Recursion, for structures of your own: it reads x and one child, the state before.
  RecursionKind kind(std::string name = "gru") const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t hidden() const { return u_->shape()[0]; }
  /// The first of its weights, by which messages name the layer.
  const Parameter& weights() const { return *w_; }

 private:
  /// Of x and h, and of a masked h if there is one.
  Expr record(const Operand& x, std::initializer_list<Expr> inputs) const;
  Expr next(std::span<const Expr> in, SourceLine where) const;

  const Parameter* w_;
  const Parameter* b_;
  const Parameter* u_;
  const Parameter* b_h_;
  std::shared_ptr<const cells::Core> cell_;
  std::shared_ptr<const Recursion> recursion_;
};

}  // namespace espalier::nn
