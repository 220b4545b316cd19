#include "espalier/nn/dropout.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/ops/dropout.h"

namespace espalier::nn {

Dropout::Dropout(double rate) : rate_(rate) {
  if (!(rate >= 0 && rate < 1))
    throw UsageError(fmt::format("dropout: the rate must be at least 0 and below 1, and {} was given", rate));
}

Expr Dropout::operator()(Operand x) const { return dropout(x, rate_); }

}  // namespace espalier::nn
