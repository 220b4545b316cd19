/// Layer: the products of one matrix of weights, y = x W + b, with the weights laid out for them where that pays.
///
/// Thread safety: forward() and backward() from any number of threads, each with a Watch of its own; everything else
/// excludes them.
#pragma once

#include <cstdint>

#include "bench/limit/buffer.h"
#include "bench/limit/preparing.h"
#include "bench/limit/watch.h"
#include "bench/limit/weights.h"
#include "espalier/kernels/prepared.h"

namespace espalier::bench {

class Layer {
 public:
  /// W: [inputs, outputs]; b: [outputs], or null. Of the first `constants` inputs nobody wants the gradient.
  Layer(Weight& w, Weight* b, std::int64_t constants = 0) : w_(&w), b_(b), constants_(constants) {}

  std::int64_t inputs() const { return w_->rows; }
  std::int64_t outputs() const { return w_->columns; }
  std::int64_t variables() const { return inputs() - constants_; }

  /// Before the products: lays out weights that changed since they last were, where that pays.
  void prepare_forward(const Preparing& products, Watch& watch);
  void prepare_backward(const Preparing& products, Watch& watch);

  /// y[m, outputs] = x[m, inputs] W + b, or, with `accumulate`, y += x W + b. Rows lie without gaps here and below.
  void forward(std::int64_t m, const float* x, float* y, bool accumulate, Watch& watch) const;
  /// dx[m, inputs - constants] = dy[m, outputs] W^T, or +=
  void backward(std::int64_t m, const float* dy, float* dx, bool accumulate, Watch& watch) const;
  /// Adds x^T dy over all rows where gradients go. The weights are other ones then.
  void add_gradient(std::int64_t rows, const float* x, const float* dy, Watch& watch);

  Weight& w() const { return *w_; }
  Weight* b() const { return b_; }

 private:
  /// By the weights as they are laid out, or as they are.
  void multiply(bool prepared, std::int64_t m, const float* x, float* y, bool accumulate) const;
  void multiply_transposed(bool prepared, std::int64_t m, const float* dy, float* dx, bool accumulate) const;
  const float* variable_weights() const { return w_->values.data() + constants_ * outputs(); }

  Weight* w_;
  Weight* b_;
  std::int64_t constants_;
  kernels::Prepared forward_;
  kernels::Prepared backward_;
  bool forward_is_current_ = false;
  bool backward_is_current_ = false;
  Buffer<float> elsewhere_;  // for gradients of products that are timed alone
};

}  // namespace espalier::bench
