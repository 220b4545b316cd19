#include "espalier/nn/activation.h"

#include <string>

#include "espalier/base/error.h"
#include "espalier/ops/clamp.h"
#include "espalier/ops/elu.h"
#include "espalier/ops/gelu.h"
#include "espalier/ops/leaky_relu.h"
#include "espalier/ops/relu.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/silu.h"
#include "espalier/ops/softplus.h"
#include "espalier/ops/tanh.h"

namespace espalier::nn {

namespace {

[[noreturn]] void refuse(Activation activation) {
  throw UsageError("activation: there is none with the number " + std::to_string(static_cast<int>(activation)));
}

}  // namespace

Expr activate(Operand x, Activation activation) {
  switch (activation) {
    case Activation::kTanh: return tanh(x);
    case Activation::kSigmoid: return sigmoid(x);
    case Activation::kRelu: return relu(x);
    case Activation::kLeakyRelu: return leaky_relu(x);
    case Activation::kElu: return elu(x);
    case Activation::kGelu: return gelu(x);
    case Activation::kSoftplus: return softplus(x);
    case Activation::kSilu: return silu(x);
    case Activation::kRelu6: return clamp(x, 0, 6);
    case Activation::kNone: return x.expr();
  }
  refuse(activation);
}

init::Initializer initializer_for(Activation activation) {
  switch (activation) {
    case Activation::kTanh: return init::unit_scaling(1.15);
    case Activation::kSigmoid: return init::truncated_normal(0, 0.01);
    case Activation::kRelu:
    case Activation::kLeakyRelu:
    case Activation::kElu:
    case Activation::kGelu:
    case Activation::kSoftplus:
    case Activation::kSilu:
    case Activation::kRelu6: return init::unit_scaling(1.43);
    case Activation::kNone: return init::unit_scaling(1);
  }
  refuse(activation);
}

}  // namespace espalier::nn
