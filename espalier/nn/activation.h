/// The activation functions of layers.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"

namespace espalier::nn {

/// kRelu6 is min(max(x, 0), 6); kNone gives x itself.
enum class Activation : std::int32_t {
  kTanh,
  kSigmoid,
  kRelu,
  kLeakyRelu,
  kElu,
  kGelu,
  kSoftplus,
  kSilu,
  kRelu6,
  kNone
};

ESPALIER_EXPORT Expr activate(Operand x, Activation activation);

/// Initial weights for a layer that ends with this function, chosen so that activations keep about the same size
/// through many such layers (the factors of Sussillo and Abbott, 2014): init::unit_scaling with 1.43 for kRelu and its
/// like, 1.15 for kTanh, 1 for kNone; for kSigmoid init::truncated_normal(0, 0.01).
ESPALIER_EXPORT init::Initializer initializer_for(Activation activation);

}  // namespace espalier::nn
