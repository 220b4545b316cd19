#include "espalier/nn/mlp.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "espalier/base/error.h"
#include "espalier/nn/dropout.h"

namespace espalier::nn {

Mlp::Mlp(const Scope& scope, const std::vector<std::int32_t>& sizes, const MlpOptions& options)
    : activation_(options.activation),
      activate_last_(options.activate_last),
      dropout_(Dropout(options.dropout).rate()) {
  if (sizes.size() < 2)
    throw UsageError(fmt::format("mlp \"{}\": needs the sizes of the input and of each layer, and {} were given",
                                 scope.prefix(), sizes.size()));
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    layers_.emplace_back(scope / std::to_string(i), sizes[i], sizes[i + 1], LinearOptions{.init = options.init});
}

Expr Mlp::operator()(Operand x) const {
  Operand h = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    h = x.at(layers_[i](h));
    if (i + 1 == layers_.size() && !activate_last_) break;
    h = x.at(activate(h, activation_));
    if (dropout_ > 0) h = x.at(Dropout(dropout_)(h));
  }
  return h.expr();
}

}  // namespace espalier::nn
