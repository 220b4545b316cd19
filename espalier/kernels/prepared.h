/// Prepared: a matrix of weights laid out once for all the products it takes part in until it changes.
///
/// Weights change once an update and are multiplied by many times in between, often by few rows. Laid out in the order
/// in which the product reads them, and transposed where the gradient wants that, they cost nothing but the product.
///
/// Thread safety: product() may be called from any number of threads; assign() excludes them.
#pragma once

#include <cstdint>
#include <memory>

#include "espalier/base/export.h"

namespace espalier::kernels {

class ESPALIER_EXPORT Prepared {
 public:
  /// Of no matrix yet.
  Prepared();
  ~Prepared();
  Prepared(Prepared&&) noexcept;
  Prepared& operator=(Prepared&&) noexcept;

  /// B[k, n], row-major, ldb numbers from row to row. The numbers are copied.
  void assign(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb);
  /// B = T^T, for T[n, k].
  void assign_transposed(std::int64_t k, std::int64_t n, const float* t, std::int64_t ldt);

  bool empty() const { return matrix_ == nullptr; }
  std::int64_t k() const;
  std::int64_t n() const;
  /// The matrix row by row without gaps, where it is kept in that way because it is small; else null.
  const float* plain() const;

  /// C[m, n] = A[m, k] B, or += with `accumulate`; + bias[n] in every row, unless it is null. C overlaps nothing.
  /// Fastest where the rows of A and of C lie without gaps (lda == k, ldc == n). Splits itself over the pool.
  void product(std::int64_t m, const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
               bool accumulate) const;

 private:
  class Matrix;
  std::unique_ptr<Matrix> matrix_;
};

}  // namespace espalier::kernels
