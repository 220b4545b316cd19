/// Softmax and cross-entropy over rows whose scores lie class by class.
#pragma once

#include <cstdint>

namespace espalier::bench {

struct ScoreRows {
  std::int64_t classes = 0;
  std::int64_t rows = 0;
  float* values = nullptr;  // [classes, rows]
  const float* bias = nullptr;
};

/// The loss of rows begin to end, whose scores become `scale` times their gradients.
double cross_entropy_losses(const ScoreRows& scores, std::int64_t begin, std::int64_t end, const std::int32_t* labels,
                            float scale);

}  // namespace espalier::bench
