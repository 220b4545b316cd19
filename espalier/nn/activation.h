/// The elementwise functions a layer can be told to use.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"

namespace espalier::nn {

enum class Activation : std::int32_t { kTanh, kSigmoid, kRelu, kLeakyRelu, kElu, kGelu, kSoftplus };

ESPALIER_EXPORT Expr activate(Operand x, Activation activation);

}  // namespace espalier::nn
