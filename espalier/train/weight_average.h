/// WeightAverage: exponential averages of a model's weights, which are often better than the last weights (Polyak and
/// Juditsky, 1992). Internal.
///
/// Costs a pass over all parameters per update, and as much memory as they take.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/nn/model.h"
#include "espalier/nn/safetensors.h"

namespace espalier::train {

class WeightAverage {
 public:
  /// The averages start from the weights. A decay of 0: there are none, and the calls below do nothing.
  WeightAverage(Model& model, double decay);

  bool is_on() const { return decay_ > 0; }
  /// After update number `updates`, the first being 1: average = d average + (1 - d) weights, with
  /// d = min(decay, (1 + updates) / (10 + updates)), so that the initial weights do not weigh long.
  void update(std::int64_t updates);
  /// The weights become the averages, and the averages the weights: a second call undoes the first.
  void swap();

  /// In the order of the model's parameters.
  const std::vector<Tensor>& tensors() const { return averages_; }
  std::vector<Tensor>& tensors() { return averages_; }

 private:
  Model& model_;
  double decay_;
  std::vector<Tensor> averages_;
};

/// While it lives, the model has the averaged weights.
class WithAverage {
 public:
  explicit WithAverage(WeightAverage& average) : average_(average) { average_.swap(); }
  ~WithAverage() { average_.swap(); }
  WithAverage(const WithAverage&) = delete;
  WithAverage& operator=(const WithAverage&) = delete;

 private:
  WeightAverage& average_;
};

}  // namespace espalier::train
