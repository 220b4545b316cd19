/// Adam of Kingma and Ba (2015): running averages of gradients and of their squares.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

struct AdamOptions {
  double learning_rate = 0.001;
  /// How much of m is kept in a step: 0 to below 1.
  double beta1 = 0.9;
  /// The same for v.
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// This times the value is added to the gradient.
  double weight_decay = 0;
  /// Gradients are scaled down to this norm; 0 switches clipping off.
  double clip_norm = 0;
};

/// With g the gradient plus weight_decay times the value:
///
///   m = beta1 m + (1 - beta1) g              v = beta2 v + (1 - beta2) g^2
///   value -= learning_rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// where t counts the steps in which the parameter had a gradient: also for a row of a table that is used for the first
/// time in step t.
class ESPALIER_EXPORT Adam : public Optimizer {
 public:
  /// Refuses (UsageError) options outside their ranges.
  explicit Adam(Model& model, const AdamOptions& options = {});
  std::string to_string() const override;

 private:
  std::array<double, 2> corrections(std::int64_t step) const override;
  void update(const Range<float>& range) const override;
  void update(const Range<double>& range) const override;

  AdamOptions options_;
};

}  // namespace espalier::optim
