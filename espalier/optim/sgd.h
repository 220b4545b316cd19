/// Stochastic gradient descent, with momentum and Nesterov's variant of it.
#pragma once

#include <string>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

struct SgdOptions {
  double learning_rate = 0.01;
  /// 0 to 1; 0 needs no memory.
  double momentum = 0;
  /// Sutskever et al. (2013). Needs momentum.
  bool nesterov = false;
  /// This times the value is added to the gradient.
  double weight_decay = 0;
  /// Gradients are scaled down to this norm; 0 switches clipping off.
  double clip_norm = 0;
};

/// With g the gradient plus weight_decay times the value:
///
///   v = momentum v + g
///   value -= learning_rate v                      Nesterov: learning_rate (g + momentum v)
class ESPALIER_EXPORT Sgd : public Optimizer {
 public:
  /// Refuses (UsageError) options outside their ranges.
  explicit Sgd(Model& model, const SgdOptions& options = {});
  std::string to_string() const override;

 private:
  bool adds_gradients() const override { return options_.momentum == 0 && options_.weight_decay == 0; }
  void update(const Range<float>& range) const override;
  void update(const Range<double>& range) const override;

  SgdOptions options_;
};

}  // namespace espalier::optim
