#include "espalier/nn/linear.h"

#include "espalier/nn/gates.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/linear.h"

namespace espalier::nn {

Linear::Linear(const Scope& scope, std::int32_t input, std::int32_t output, const LinearOptions& options) {
  detail::require_size("linear", scope, "the input size", input);
  detail::require_size("linear", scope, "the output size", output);
  w_ = &scope.add("W", {input, output}, options.init);
  if (options.bias) b_ = &scope.add("b", {output}, init::zeros());
}

Expr Linear::operator()(Operand x) const { return b_ == nullptr ? linear(x, x.at(w_)) : affine(x, x.at(w_), x.at(b_)); }

}  // namespace espalier::nn
