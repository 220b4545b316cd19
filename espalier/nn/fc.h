/// FC: a fully connected layer with optional activation, dropout and normalisation.
#pragma once

#include <cstdint>
#include <optional>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/activation.h"
#include "espalier/nn/init.h"
#include "espalier/nn/layer_norm.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct FCOptions {
  Activation activation = Activation::kRelu;
  /// Initializer of W. Default: initializer_for(activation). b starts at zero.
  init::Initializer init = {};
  bool bias = true;
  /// Dropout rates for x and y.
  double input_dropout = 0;
  double output_dropout = 0;
  /// Normalises x W before the activation (LayerNorm); its bias takes the place of b.
  bool layer_norm = false;
  /// The columns of W have lengths g that are learned apart from their directions, those of V (ops/weight_norm.h). They
  /// start with the lengths that V's columns have, so that W starts as V.
  bool weight_norm = false;
};

/// x: [input]   ->   y: [output]
/// y = dropout(activation(norm(dropout(x) W) + b))
/// Parameters: W [input, output]; or, with weight norm, V [input, output] and g [output]; b [output], unless it is
/// without bias or has a layer norm; those of LayerNorm under "norm".
class ESPALIER_EXPORT FC {
 public:
  /// Refuses sizes below 1 and rates outside 0 <= rate < 1.
  FC(const Scope& scope, std::int32_t input, std::int32_t output, const FCOptions& options = {});

  Expr operator()(Operand x) const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t output() const { return w_->shape()[1]; }
  /// W, or V with weight norm.
  const Parameter& weights() const { return *w_; }
  /// Null without.
  const Parameter* bias() const { return b_; }
  /// The lengths g of weight norm; null without.
  const Parameter* scales() const { return g_; }

 private:
  Operand weights_in(const Operand& x) const;

  const Parameter* w_;
  const Parameter* g_ = nullptr;
  const Parameter* b_ = nullptr;
  std::uint64_t normalised_ = 0;  // the uid of W where it is made from V and g
  std::optional<LayerNorm> norm_;
  Activation activation_;
  double input_dropout_;
  double output_dropout_;
};

}  // namespace espalier::nn
