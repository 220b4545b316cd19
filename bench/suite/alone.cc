#include "bench/suite/alone.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "bench/suite/clock.h"
#include "bench/suite/samples.h"
#include "espalier/base/denormals.h"
#include "espalier/base/random.h"
#include "espalier/kernels/product.h"

namespace espalier::bench {
namespace {

using ops::ProductKind;

constexpr std::size_t kTimes = 3;

/// Numbers around 0, so that sums of many stay tame.
void grow(std::vector<float>& numbers, std::int64_t size) {
  Random random(1);
  while (static_cast<std::int64_t>(numbers.size()) < size)
    numbers.push_back(static_cast<float>(random.uniform()) - 0.5F);
}

}  // namespace

double AloneProducts::seconds(const ops::Product& product, std::int64_t calls) {
  const FlushDenormals flush;
  make_room(product);
  run(product);
  std::array<double, kTimes> times{};
  for (double& time : times) {
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) run(product);
    time = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return median(times);
}

void AloneProducts::make_room(const ops::Product& product) {
  grow(inputs_, product.rows * product.k);
  grow(outputs_, product.rows * product.m);
  grow(weights_, product.k * product.m);
  grow(results_, std::max({product.rows * product.k, product.rows * product.m, product.k * product.m}));
}

const kernels::Prepared& AloneProducts::prepared(const ops::Product& product) {
  kernels::Prepared& matrix = prepared_[{product.kind, product.k, product.m}];
  if (!matrix.empty()) return matrix;
  if (product.kind == ProductKind::kForward)
    matrix.assign(product.k, product.m, weights_.data(), product.m);
  else
    matrix.assign_transposed(product.m, product.k, weights_.data(), product.m);
  return matrix;
}

void AloneProducts::run(const ops::Product& product) {
  const auto& [kind, rows, k, m, is_prepared, has_bias, accumulate] = product;
  const float* x = inputs_.data();
  const float* y = outputs_.data();
  float* result = results_.data();
  const float* bias = has_bias ? weights_.data() : nullptr;
  switch (kind) {
    case ProductKind::kForward:
      if (is_prepared) {
        prepared(product).product(rows, x, k, bias, result, m, accumulate);
        return;
      }
      kernels::affine(rows, m, k, x, k, weights_.data(), m, bias, result, m, accumulate);
      return;
    case ProductKind::kInputGradient:
      if (is_prepared)
        prepared(product).product(rows, y, m, nullptr, result, k, accumulate);
      else
        kernels::product_transposed_b(rows, k, m, y, m, weights_.data(), m, result, k, accumulate);
      return;
    case ProductKind::kWeightGradient:
      kernels::product_transposed_a(k, m, rows, x, k, y, m, result, m, accumulate);
      return;
  }
}

}  // namespace espalier::bench
