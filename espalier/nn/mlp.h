/// Mlp: linear layers with an activation between them.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/activation.h"
#include "espalier/nn/init.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct MlpOptions {
  Activation activation = Activation::kRelu;
  /// Applies the activation after the last layer too.
  bool activate_last = false;
  /// Rate of dropout after every activation.
  double dropout = 0;
  init::Initializer init = init::glorot();
};

/// x: [sizes.front()]   ->   y: [sizes.back()]
/// h_0 = x;  h_j+1 = activation(h_j W_j + b_j);  the last without activation.
/// Parameters: 0.W, 0.b, 1.W, 1.b, and so on, as in Linear.
class ESPALIER_EXPORT Mlp {
 public:
  /// Refuses fewer than two sizes.
  Mlp(const Scope& scope, const std::vector<std::int32_t>& sizes, const MlpOptions& options = {});

  Expr operator()(Operand x) const;

  /// The first of its weights, by which messages name the layer.
  const Parameter& weights() const { return layers_[0].weights(); }

 private:
  std::vector<Linear> layers_;
  Activation activation_;
  bool activate_last_;
  double dropout_;
};

}  // namespace espalier::nn
