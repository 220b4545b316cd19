/// The product shared by linear ops: n rows of vectors by a matrix that is either one for all rows or one a row.
///
/// All three functions are about Y = X W. A row of X holds `lines` vectors of k, a row of Y as many of m; W is [k, m].
/// Rows that share W are one matrix product where they are evenly spaced.
#pragma once

#include <cstdint>

#include "espalier/ops/step.h"

namespace espalier::ops {

struct ProductSizes {
  std::int64_t lines = 1;
  std::int64_t k = 0;
  std::int64_t m = 0;
};

/// Y = X W, or += with `accumulate`.
void rows_times_matrix(const ProductSizes& sizes, const ConstRows& x, const ConstRows& W, const Rows& y,
                       bool accumulate = false);
/// X = Y W^T, or +=.
void rows_times_transposed(const ProductSizes& sizes, const ConstRows& y, const ConstRows& W, const Rows& x,
                           bool accumulate = false);
/// Adds X^T Y of every row to its matrix; of all rows where they share one.
void add_row_products(const ProductSizes& sizes, const ConstRows& x, const ConstRows& y, const GradRows& dW);

/// Adds dY W^T to dx and X^T dY to dW, where wanted.
void rows_times_matrix_backward(const ProductSizes& sizes, const ConstRows& x, const ConstRows& W, const ConstRows& dy,
                                const GradRows& dx, const GradRows& dW);

/// The same for rows of one vector each.
inline void rows_times_matrix(const ConstRows& x, const ConstRows& W, const Rows& y, bool accumulate = false) {
  rows_times_matrix({1, x.width, y.width}, x, W, y, accumulate);
}
inline void rows_times_matrix_backward(const ConstRows& x, const ConstRows& W, const ConstRows& dy, const GradRows& dx,
                                       const GradRows& dW) {
  rows_times_matrix_backward({1, x.width, dy.width}, x, W, dy, dx, dW);
}

/// Rows begin to begin + count - 1 of `rows`.
template <class T>
BasicRows<T> piece_of(const BasicRows<T>& rows, std::int64_t begin, std::int64_t count) {
  if (rows.offsets != nullptr) return {rows.data, count, rows.width, rows.stride, rows.offsets + begin};
  return {rows.data + begin * rows.stride, count, rows.width, rows.stride, nullptr};
}
inline GradRows piece_of(const GradRows& grads, std::int64_t begin, std::int64_t count) {
  return grads ? GradRows(piece_of(grads.rows(), begin, count), grads.stores()) : GradRows();
}

}  // namespace espalier::ops
