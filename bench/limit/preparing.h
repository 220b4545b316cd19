/// Preparing: whether laying weights out for products pays.
#pragma once

#include <cstdint>

#include "espalier/kernels/small_product.h"

namespace espalier::bench {

/// What the products with one matrix until its next change would gain by it. All constants are nanoseconds a weight, as
/// measured (AVX-512, 300 x 750 and smaller; `bench/products`).
class Preparing {
 public:
  /// Products take small weights as they are, and only a transposed copy pays: from so many rows on.
  static constexpr std::int64_t kRowsForCopy = 16;

  /// A product of so many rows. Those by weights as they are lose only where rows are few, those by transposed weights
  /// always.
  void add(std::int64_t rows) {
    rows_ += rows;
    if (rows < 8) forward_gain_ += 0.02;
    if (rows < 3)
      backward_gain_ += 0.017;
    else if (rows < 8)
      backward_gain_ += 0.015 * static_cast<double>(rows);
    else
      backward_gain_ += 0.12 + 0.0006 * static_cast<double>(rows);
  }
  /// For inference the weights stay, and are laid out once.
  void add_forever() { forward_gain_ += 1e9; }

  /// For weights [k, n].
  bool pays_forward(std::int64_t k, std::int64_t n) const {
    return !kernels::is_small_matrix(k, n) && forward_gain_ > 1.0;
  }
  bool pays_backward(std::int64_t k, std::int64_t n) const {
    return kernels::is_small_matrix(k, n) ? rows_ >= kRowsForCopy : backward_gain_ > 0.6;
  }

 private:
  std::int64_t rows_ = 0;
  double forward_gain_ = 0;
  double backward_gain_ = 0;
};

}  // namespace espalier::bench
