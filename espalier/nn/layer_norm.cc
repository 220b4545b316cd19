#include "espalier/nn/layer_norm.h"

#include "espalier/nn/gates.h"
#include "espalier/ops/layer_norm.h"

namespace espalier::nn {

LayerNorm::LayerNorm(const Scope& scope, std::int32_t size, const LayerNormOptions& options)
    : epsilon_(options.epsilon) {
  detail::require_size("layer norm", scope, "the size", size);
  gain_ = &scope.add("gain", {size}, init::constant(1));
  bias_ = &scope.add("bias", {size}, init::zeros());
}

Expr LayerNorm::operator()(Operand x) const { return layer_norm(x, x.at(gain_), x.at(bias_), epsilon_); }

}  // namespace espalier::nn
