/// Rows of random numbers for tests of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/tensor/rows.h"

namespace espalier::kernels {

enum class Lying { kDense, kSpaced, kScattered };

/// Rows of random numbers that lie in some way, in memory that ends with the last of them.
class RowBlock {
 public:
  RowBlock(std::int64_t count, std::int64_t width, Lying lying, std::uint64_t seed) : count_(count), width_(width) {
    const std::int64_t stride = lying == Lying::kDense ? width : width + 3;
    stride_ = stride;
    if (lying == Lying::kScattered)
      for (std::int64_t r = 0; r < count; ++r) offsets_.push_back((count - 1 - r) * stride);
    Random random(seed);
    numbers_.resize(static_cast<std::size_t>((count - 1) * stride + width));
    for (float& x : numbers_) x = static_cast<float>(random.uniform(-2, 2));
  }
  Rows rows() { return rows_from(0, count_); }
  /// Row r alone.
  Rows row(std::int64_t r) { return rows_from(r, 1); }
  float at(std::int64_t r, std::int64_t j) { return rows()[r][j]; }
  const std::vector<float>& numbers() const { return numbers_; }

 private:
  Rows rows_from(std::int64_t r, std::int64_t count) {
    if (!offsets_.empty()) return {numbers_.data(), count, width_, 0, offsets_.data() + r};
    return {numbers_.data() + r * stride_, count, width_, stride_, nullptr};
  }

  std::int64_t count_;
  std::int64_t width_;
  std::int64_t stride_ = 0;
  std::vector<std::int64_t> offsets_;
  std::vector<float> numbers_;
};

}  // namespace espalier::kernels
