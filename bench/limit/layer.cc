#include "bench/limit/layer.h"

#include <algorithm>

#include "espalier/kernels/product.h"

namespace espalier::bench {

void Layer::prepare_forward(const Preparing& products, Watch& watch) {
  if (forward_is_current_ || !products.pays_forward(inputs(), outputs())) return;
  forward_.assign(inputs(), outputs(), w_->values.data(), outputs());
  forward_is_current_ = true;
  watch.lap(Part::kPreparation);
}

void Layer::prepare_backward(const Preparing& products, Watch& watch) {
  if (backward_is_current_ || !products.pays_backward(variables(), outputs())) return;
  backward_.assign_transposed(outputs(), variables(), variable_weights(), outputs());
  backward_is_current_ = true;
  watch.lap(Part::kPreparation);
}

void Layer::multiply(bool prepared, std::int64_t m, const float* x, float* y, bool accumulate) const {
  const float* bias = b_ == nullptr ? nullptr : b_->values.data();
  if (prepared) {
    forward_.product(m, x, inputs(), bias, y, outputs(), accumulate);
    return;
  }
  kernels::affine(m, outputs(), inputs(), x, inputs(), w_->values.data(), outputs(), bias, y, outputs(), accumulate);
}

void Layer::multiply_transposed(bool prepared, std::int64_t m, const float* dy, float* dx, bool accumulate) const {
  if (prepared)
    backward_.product(m, dy, outputs(), nullptr, dx, variables(), accumulate);
  else
    kernels::product_transposed_b(m, variables(), outputs(), dy, outputs(), variable_weights(), outputs(), dx,
                                  variables(), accumulate);
}

void Layer::forward(std::int64_t m, const float* x, float* y, bool accumulate, Watch& watch) const {
  const auto run = [=, this, prepared = forward_is_current_] { multiply(prepared, m, x, y, accumulate); };
  run();
  watch.lap(Part::kProducts);
  watch.product(m, outputs(), inputs(), run);
}

void Layer::backward(std::int64_t m, const float* dy, float* dx, bool accumulate, Watch& watch) const {
  const auto run = [=, this, prepared = backward_is_current_] { multiply_transposed(prepared, m, dy, dx, accumulate); };
  run();
  watch.lap(Part::kProducts);
  watch.product(m, variables(), outputs(), run);
}

void Layer::add_gradient(std::int64_t rows, const float* x, const float* dy, Watch& watch) {
  if (rows == 0) return;
  const auto add_to = [=, this](float* target) {
    kernels::product_transposed_a(inputs(), outputs(), rows, x, inputs(), dy, outputs(), target, outputs(),
                                  /*accumulate=*/true);
  };
  add_to(w_->target());
  watch.lap(Part::kProducts);
  watch.product(inputs(), outputs(), rows, [=, this] {
    if (elsewhere_.data() == nullptr) std::fill_n(elsewhere_.room(w_->size()), w_->size(), 0.0F);
    add_to(elsewhere_.data());
  });
  if (w_->collects) return;
  forward_is_current_ = false;
  backward_is_current_ = false;
}

}  // namespace espalier::bench
