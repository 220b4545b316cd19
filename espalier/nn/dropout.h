/// Dropout: sets elements to zero at random while training.
#pragma once

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"

namespace espalier::nn {

/// x: any shape   ->   y: the same
/// y = x / (1 - rate) with probability 1 - rate, else 0, for each element by itself; y = x in a graph that is not
/// training. No parameters.
class ESPALIER_EXPORT Dropout {
 public:
  /// Refuses a rate outside 0 <= rate < 1.
  explicit Dropout(double rate);

  Expr operator()(Operand x) const;

  double rate() const { return rate_; }

 private:
  double rate_;
};

}  // namespace espalier::nn
