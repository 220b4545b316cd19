#include "espalier/nn/fc.h"

#include <cmath>

#include "espalier/graph/graph.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/weight_norm.h"

namespace espalier::nn {
namespace {

Tensor column_lengths(const Tensor& matrix) {
  const std::int64_t columns = matrix.shape()[1];
  Tensor lengths({static_cast<std::int32_t>(columns)}, matrix.dtype());
  for (std::int64_t j = 0; j < columns; ++j) {
    double squares = 0;
    for (std::int64_t i = j; i < matrix.elements(); i += columns) squares += matrix.at(i) * matrix.at(i);
    lengths.set(j, std::sqrt(squares));
  }
  return lengths;
}

}  // namespace

FC::FC(const Scope& scope, std::int32_t input, std::int32_t output, const FCOptions& options)
    : activation_(options.activation),
      input_dropout_(Dropout(options.input_dropout).rate()),
      output_dropout_(Dropout(options.output_dropout).rate()) {
  detail::require_size("fc", scope, "the input size", input);
  detail::require_size("fc", scope, "the output size", output);
  const init::Initializer init = options.init ? options.init : initializer_for(activation_);
  w_ = &scope.add(options.weight_norm ? "V" : "W", {input, output}, init);
  if (options.weight_norm) {
    g_ = &scope.add("g", {output}, init::from_tensor(column_lengths(w_->value())));
    normalised_ = new_uid();
  }
  if (options.layer_norm)
    norm_.emplace(scope / "norm", output);
  else if (options.bias)
    b_ = &scope.add("b", {output}, init::zeros());
}

Operand FC::weights_in(const Operand& x) const {
  if (g_ == nullptr) return x.at(w_);
  return x.at(x.expr().graph().derived(
      normalised_, [&](Graph& graph) { return weight_norm(x.at(graph.parameter(*w_)), x.at(g_)); }));
}

Expr FC::operator()(Operand x) const {
  Operand y = x;
  if (input_dropout_ > 0) y = x.at(Dropout(input_dropout_)(y));
  const Operand w = weights_in(y);
  y = x.at(b_ == nullptr ? linear(y, w) : affine(y, w, x.at(b_)));
  if (norm_) y = x.at((*norm_)(y));
  y = x.at(activate(y, activation_));
  return output_dropout_ > 0 ? Dropout(output_dropout_)(y) : y.expr();
}

}  // namespace espalier::nn
