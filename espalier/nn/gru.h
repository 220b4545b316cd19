/// GruCell: gated recurrent unit (Cho et al., 2014), in the form whose reset gate acts after the product, so that all
/// gates are one product.
#pragma once

#include <cstdint>
#include <memory>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct GruOptions {
  /// Of the weights, gate by gate; biases start at zero.
  init::Initializer init = init::glorot();
};

/// [r z n] = x W + b,  [r' z' n'] = h U + b_h        x: [input]   h: [hidden]
/// h' = (1 - z'') * tanh(n + r'' * n') + z'' * h     with r'' = sigmoid(r + r'), z'' = sigmoid(z + z')
/// Parameters: W [input, 3 hidden], b [3 hidden], U [hidden, 3 hidden], b_h [3 hidden]; gates side by side in the order
/// r, z, n.
class ESPALIER_EXPORT GruCell {
 public:
  GruCell(const Scope& scope, std::int32_t input, std::int32_t hidden, const GruOptions& options = {});

  /// Zeros.
  Expr initial(Graph& graph, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) const;
  Expr operator()(Operand x, Operand h) const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t hidden() const { return u_->shape()[0]; }

 private:
  const Parameter* w_;
  const Parameter* b_;
  const Parameter* u_;
  const Parameter* b_h_;
  std::shared_ptr<const cells::Core> cell_;
};

}  // namespace espalier::nn
