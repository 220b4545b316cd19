/// Adadelta of Zeiler (2012): steps in the units of past steps, so that no learning rate has to be chosen.
#pragma once

#include <string>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

struct AdadeltaOptions {
  double learning_rate = 1;
  /// 0 to 1.
  double decay = 0.95;
  double epsilon = 1e-6;
  /// This times the value is added to the gradient.
  double weight_decay = 0;
  /// Gradients are scaled down to this norm; 0 switches clipping off.
  double clip_norm = 0;
};

/// With g the gradient plus weight_decay times the value:
///
///   s = decay s + (1 - decay) g^2
///   d = sqrt(u + epsilon) / sqrt(s + epsilon) g
///   u = decay u + (1 - decay) d^2
///   value -= learning_rate d
class ESPALIER_EXPORT Adadelta : public Optimizer {
 public:
  /// Refuses (UsageError) options outside their ranges.
  explicit Adadelta(Model& model, const AdadeltaOptions& options = {});
  std::string to_string() const override;

 private:
  void update(const Range<float>& range) const override;
  void update(const Range<double>& range) const override;

  AdadeltaOptions options_;
};

}  // namespace espalier::optim
