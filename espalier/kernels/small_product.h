/// Products with matrices so small that the fixed cost of a general product is a large part of the whole.
///
/// Rows may lie anywhere. Nothing is packed, copied or allocated. What is written overlaps nothing that is read; rows
/// that are added to may be the same row, and are added one after the other. The bits of a row depend on the sizes of
/// the matrix and the processor only: not on the number of rows, and not on where they lie.
///
/// Thread safety: functions of their arguments alone; each runs in the calling thread only.
#pragma once

#include <cstdint>

#include "espalier/tensor/rows.h"

namespace espalier::kernels {

// When to use the functions below instead of oneDNN's, by measurement (`build/release/bench/products`; the table is in
// docs/figures/ops_and_kernels.md). Every choice between the two is made here.

/// Whether a matrix of weights is multiplied as it is stored, and never laid out for oneDNN. With AVX-512 this is
/// faster at any number of rows.
constexpr bool is_small_matrix(std::int64_t k, std::int64_t n) { return k * n <= 20480; }

/// For y = x W, with W[k, n].
bool is_small_product(std::int64_t rows, std::int64_t k, std::int64_t n);
/// For x = y W^T, with W[k, n] as it is stored. A transposed copy is multiplied by small_product() instead.
bool is_small_transposed(std::int64_t rows, std::int64_t k, std::int64_t n);
/// For dW = X^T dY, with dW[k, n].
bool is_small_gradient(std::int64_t rows, std::int64_t k, std::int64_t n);

/// Y = X W + bias, or += with `accumulate`, for W[k, n] with rows `next` numbers apart. `bias` may be null. With
/// `relu`, what is negative then becomes 0.
void small_product(const ConstRows& x, const float* w, std::int64_t next, const float* bias, const Rows& y,
                   bool accumulate, bool relu = false);

/// X = Y W^T, or +=, for W[k, n].
void small_product_transposed(const ConstRows& y, const float* w, std::int64_t next, const Rows& x, bool accumulate);

/// dW[k, n] = X^T dY over all rows, or +=. Its bits depend on the order of the rows.
void small_weight_gradient(const ConstRows& x, const ConstRows& dy, float* dw, std::int64_t next, bool accumulate);

}  // namespace espalier::kernels
