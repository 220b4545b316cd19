#include "bench/limit/head.h"

#include "bench/limit/head_loops.h"
#include "espalier/kernels/product.h"
#include "espalier/kernels/rows.h"

namespace espalier::bench {

void Head::multiply(std::int64_t rows, const float* h, Watch& watch) {
  rows_ = rows;
  float* transposed = transposed_.room(w_->size());
  for (std::int64_t i = 0; i < width(); ++i)
    for (std::int64_t k = 0; k < classes(); ++k) transposed[k * width() + i] = w_->values[i * classes() + k];
  watch.lap(Part::kPreparation);
  float* scores = scores_.room(classes() * rows);
  const auto run = [=, this] {
    kernels::product_transposed_b(classes(), rows, width(), transposed, width(), h, width(), scores, rows, false);
  };
  run();
  watch.lap(Part::kProducts);
  watch.product(classes(), rows, width(), run);
}

double Head::sum_of_scores() const {
  double sum = 0;
  for (std::int64_t k = 0; k < classes(); ++k)
    sum += kernels::sum({scores_.data() + k * rows_, static_cast<std::size_t>(rows_)}) +
           static_cast<float>(rows_) * b_->values[k];
  return sum;
}

double Head::losses(std::int64_t begin, std::int64_t end, const std::int32_t* labels, float scale) const {
  return cross_entropy_losses({classes(), rows_, scores_.data(), b_->values.data()}, begin, end, labels, scale);
}

void Head::backward(float* dh, Watch& watch) const {
  const auto run = [=, this] {
    kernels::product_transposed_a(rows_, width(), classes(), scores_.data(), rows_, transposed_.data(), width(), dh,
                                  width(), false);
  };
  run();
  watch.lap(Part::kProducts);
  watch.product(rows_, width(), classes(), run);
}

void Head::add_gradient(const float* h, Watch& watch) {
  float* gradient = gradient_.room(w_->size());
  const auto run = [=, this] {
    kernels::product(classes(), width(), rows_, scores_.data(), rows_, h, width(), gradient, width(), false);
  };
  run();
  watch.lap(Part::kProducts);
  watch.product(classes(), width(), rows_, run);
  float* target = w_->target();
  for (std::int64_t i = 0; i < width(); ++i)
    for (std::int64_t k = 0; k < classes(); ++k) target[i * classes() + k] += gradient[k * width() + i];
  for (std::int64_t k = 0; k < classes(); ++k)
    b_->target()[k] += kernels::sum({scores_.data() + k * rows_, static_cast<std::size_t>(rows_)});
  watch.lap(Part::kUpdate);
}

}  // namespace espalier::bench
