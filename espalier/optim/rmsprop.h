/// RMSprop of Tieleman and Hinton (2012): gradients divided by a running average of their size.
#pragma once

#include <string>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

struct RmsPropOptions {
  double learning_rate = 0.001;
  /// 0 to 1.
  double decay = 0.9;
  /// 0 to 1; 0 needs no memory for v.
  double momentum = 0;
  double epsilon = 1e-8;
  /// This times the value is added to the gradient.
  double weight_decay = 0;
  /// Gradients are scaled down to this norm; 0 switches clipping off.
  double clip_norm = 0;
};

/// With g the gradient plus weight_decay times the value:
///
///   s = decay s + (1 - decay) g^2
///   v = momentum v + g / (sqrt(s) + epsilon)
///   value -= learning_rate v
class ESPALIER_EXPORT RmsProp : public Optimizer {
 public:
  /// Refuses (UsageError) options outside their ranges.
  explicit RmsProp(Model& model, const RmsPropOptions& options = {});
  std::string to_string() const override;

 private:
  void update(const Range<float>& range) const override;
  void update(const Range<double>& range) const override;

  RmsPropOptions options_;
};

}  // namespace espalier::optim
