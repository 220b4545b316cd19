/// Weights: the parameters of a limit, copied from a Model by name.
///
/// The gradient of a parameter is added to its values at once: by plain SGD, weights + (-rate gradient) is all there is
/// to an update, and a limit scales the gradient of its loss by -rate before it begins. Only where gradients themselves
/// are asked for do they go to memory of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/limit/buffer.h"
#include "bench/suite/workload.h"
#include "espalier/nn/model.h"

namespace espalier::bench {

struct Weight {
  std::string name;
  std::int64_t rows = 1;  // 1 for a bias
  std::int64_t columns = 0;
  Buffer<float> values;
  Buffer<float> gradient;  // only while gradients are collected
  bool collects = false;

  std::int64_t size() const { return rows * columns; }
  /// What gradients are added to.
  float* target() const { return collects ? gradient.data() : values.data(); }
};

class Weights {
 public:
  explicit Weights(const Model& model);

  /// Refuses a name that is not there. The place of a weight does not change.
  Weight& operator[](std::string_view name) const;

  /// From here on gradients go to memory of their own, zeros at first, instead of to the values.
  void begin_collecting();
  /// What was collected, in the order of the model's parameters.
  std::vector<Runner::Gradient> end_collecting();

 private:
  std::vector<std::unique_ptr<Weight>> all_;
};

}  // namespace espalier::bench
