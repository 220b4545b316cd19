/// Adagrad of Duchi, Hazan and Singer (2011): the learning rate of each weight falls with its past gradients.
#pragma once

#include <string>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

struct AdagradOptions {
  double learning_rate = 0.05;
  double epsilon = 1e-10;
  /// This times the value is added to the gradient.
  double weight_decay = 0;
  /// Gradients are scaled down to this norm; 0 switches clipping off.
  double clip_norm = 0;
};

/// With g the gradient plus weight_decay times the value:
///
///   s += g^2
///   value -= learning_rate g / (sqrt(s) + epsilon)
class ESPALIER_EXPORT Adagrad : public Optimizer {
 public:
  /// Refuses (UsageError) options outside their ranges.
  explicit Adagrad(Model& model, const AdagradOptions& options = {});
  std::string to_string() const override;

 private:
  void update(const Range<float>& range) const override;
  void update(const Range<double>& range) const override;

  AdagradOptions options_;
};

}  // namespace espalier::optim
