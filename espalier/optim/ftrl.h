/// FTRL-Proximal of McMahan et al., "Ad click prediction: a view from the trenches" (2013): weights that matter little
/// become exactly 0.
#pragma once

#include <string>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

struct FtrlOptions {
  double learning_rate = 0.05;
  /// Added to the root of the sum of squared gradients: makes the first steps smaller.
  double beta = 1;
  /// Weights whose gradients add up to no more than this become 0.
  double l1 = 0;
  double l2 = 0;
  /// Gradients are scaled down to this norm; 0 switches clipping off.
  double clip_norm = 0;
};

/// With g the gradient:
///
///   z += g - (sqrt(n + g^2) - sqrt(n)) / learning_rate * value        n += g^2
///   value = 0 if |z| <= l1, else -(z - sign(z) l1) / ((beta + sqrt(n)) / learning_rate + l2)
///
/// The paper starts from weights of 0. Here z starts where the rule gives the value that the weight has, so that
/// training goes on from the initial values.
class ESPALIER_EXPORT Ftrl : public Optimizer {
 public:
  /// Refuses (UsageError) options outside their ranges, and a learning rate of 0.
  explicit Ftrl(Model& model, const FtrlOptions& options = {});
  std::string to_string() const override;

 private:
  void update(const Range<float>& range) const override;
  void update(const Range<double>& range) const override;

  FtrlOptions options_;
};

}  // namespace espalier::optim
