/// Head: a linear classifier with softmax and cross-entropy over many rows.
///
/// Scores lie class by class, [classes, rows]: there are few classes, and so all of a softmax runs over vectors of
/// rows.
#pragma once

#include <cstdint>
#include <span>

#include "bench/limit/buffer.h"
#include "bench/limit/watch.h"
#include "bench/limit/weights.h"

namespace espalier::bench {

class Head {
 public:
  /// W: [width, classes]; b: [classes].
  Head(Weight& w, Weight& b) : w_(&w), b_(&b) {}

  std::int64_t width() const { return w_->rows; }
  std::int64_t classes() const { return w_->columns; }

  /// The scores of h[rows, width], without b. Call before all below.
  void multiply(std::int64_t rows, const float* h, Watch& watch);
  /// The sum of all scores, b added.
  double sum_of_scores() const;
  /// The loss of rows begin to end. Their scores become `scale` times their gradients.
  double losses(std::int64_t begin, std::int64_t end, const std::int32_t* labels, float scale) const;
  /// dh[rows, width]
  void backward(float* dh, Watch& watch) const;
  /// Adds the gradients of W and b.
  void add_gradient(const float* h, Watch& watch);

  /// After losses(), their gradients.
  float* scores() const { return scores_.data(); }
  /// W^T, as it was for the last multiply().
  const float* transposed() const { return transposed_.data(); }

 private:
  Weight* w_;
  Weight* b_;
  std::int64_t rows_ = 0;
  Buffer<float> scores_;
  Buffer<float> transposed_;
  Buffer<float> gradient_;  // of W^T
};

}  // namespace espalier::bench
