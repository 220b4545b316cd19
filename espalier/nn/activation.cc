#include "espalier/nn/activation.h"

#include <string>

#include "espalier/base/error.h"
#include "espalier/ops/elu.h"
#include "espalier/ops/gelu.h"
#include "espalier/ops/leaky_relu.h"
#include "espalier/ops/relu.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/softplus.h"
#include "espalier/ops/tanh.h"

namespace espalier::nn {

Expr activate(Operand x, Activation activation) {
  switch (activation) {
    case Activation::kTanh: return tanh(x);
    case Activation::kSigmoid: return sigmoid(x);
    case Activation::kRelu: return relu(x);
    case Activation::kLeakyRelu: return leaky_relu(x);
    case Activation::kElu: return elu(x);
    case Activation::kGelu: return gelu(x);
    case Activation::kSoftplus: return softplus(x);
  }
  throw UsageError("activation: there is none with the number " + std::to_string(static_cast<int>(activation)));
}

}  // namespace espalier::nn
