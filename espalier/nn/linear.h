/// Linear: y = x W + b.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct LinearOptions {
  bool bias = true;
  /// Initializer of W; b starts at zero.
  init::Initializer init = init::glorot();
};

/// x: [input]   ->   y: [output]
/// Parameters: W [input, output]; b [output], unless it is without bias.
class ESPALIER_EXPORT Linear {
 public:
  Linear(const Scope& scope, std::int32_t input, std::int32_t output, const LinearOptions& options = {});

  Expr operator()(Operand x) const;

  std::int32_t input() const { return w_->shape()[0]; }
  std::int32_t output() const { return w_->shape()[1]; }
  /// The first of its weights, by which messages name the layer.
  const Parameter& weights() const { return *w_; }

 private:
  const Parameter* w_;
  const Parameter* b_ = nullptr;
};

}  // namespace espalier::nn
