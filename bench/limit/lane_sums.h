/// LaneSums: gradients of a bias, which the lanes of a minibatch add up each for itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/limit/buffer.h"
#include "bench/limit/weights.h"

namespace espalier::bench {

class LaneSums {
 public:
  explicit LaneSums(Weight& bias) : bias_(&bias) {}

  /// Zeros, for so many lanes.
  void clear(std::int64_t lanes) {
    lanes_ = lanes;
    std::fill_n(sums_.room(lanes * bias_->size()), lanes * bias_->size(), 0.0F);
  }
  float* of_lane(std::int64_t lane) const { return sums_.data() + lane * bias_->size(); }
  /// Adds all lanes' where the gradient of the bias goes.
  void add() const {
    float* target = bias_->target();
    for (std::int64_t lane = 0; lane < lanes_; ++lane)
      for (std::int64_t i = 0; i < bias_->size(); ++i) target[i] += of_lane(lane)[i];
  }

 private:
  Weight* bias_;
  std::int64_t lanes_ = 0;
  Buffer<float> sums_;
};

}  // namespace espalier::bench
