/// LayerNorm: shifts and scales a vector to mean 0 and variance 1 (Ba, Kiros and Hinton, 2016).
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct LayerNormOptions {
  /// Added to the variance.
  float epsilon = 1e-5F;
};

/// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * gain + bias        x: [size]   ->   y: [size]
/// Parameters: gain [size], initially ones; bias [size], initially zeros.
class ESPALIER_EXPORT LayerNorm {
 public:
  LayerNorm(const Scope& scope, std::int32_t size, const LayerNormOptions& options = {});

  Expr operator()(Operand x) const;

  /// The gain, by which messages name the layer.
  const Parameter& weights() const { return *gain_; }

 private:
  const Parameter* gain_;
  const Parameter* bias_;
  float epsilon_;
};

}  // namespace espalier::nn
