#include "espalier/ops/product_rows.h"

#include <algorithm>

#include "espalier/kernels/product.h"

namespace espalier::ops {
namespace {

/// Whether the vectors of all rows are evenly spaced: one matrix.
template <class T>
bool one_matrix(const BasicRows<T>& rows, std::int64_t lines) {
  return lines == 1 ? rows.even() : rows.dense();
}

/// The distance between two vectors of `width` elements.
template <class T>
std::int64_t distance(const BasicRows<T>& rows, std::int64_t lines, std::int64_t width) {
  return lines == 1 ? std::max(rows.stride, width) : width;
}

/// Calls f(row, vectors) for what one product can take: all rows where they go together, else row by row.
template <class F>
void for_each_run(std::int64_t rows, std::int64_t lines, bool together, const F& f) {
  if (together) {
    f(std::int64_t{0}, rows * lines);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r) f(r, lines);
}

}  // namespace

void rows_times_matrix(const ProductSizes& sizes, const ConstRows& x, const ConstRows& W, const Rows& y,
                       bool accumulate) {
  const auto [lines, k, m] = sizes;
  const bool together = (W.shared() || y.count == 1) && one_matrix(x, lines) && one_matrix(y, lines);
  const std::int64_t x_distance = distance(x, lines, k);
  const std::int64_t y_distance = distance(y, lines, m);
  for_each_run(y.count, lines, together, [&, k = k, m = m](std::int64_t r, std::int64_t count) {
    kernels::product(count, m, k, x[r], x_distance, W[r], m, y[r], y_distance, accumulate);
  });
}

void rows_times_transposed(const ProductSizes& sizes, const ConstRows& y, const ConstRows& W, const Rows& x,
                           bool accumulate) {
  const auto [lines, k, m] = sizes;
  const bool together = (W.shared() || y.count == 1) && one_matrix(x, lines) && one_matrix(y, lines);
  const std::int64_t x_distance = distance(x, lines, k);
  const std::int64_t y_distance = distance(y, lines, m);
  for_each_run(y.count, lines, together, [&, k = k, m = m](std::int64_t r, std::int64_t count) {
    kernels::product_transposed_b(count, k, m, y[r], y_distance, W[r], m, x[r], x_distance, accumulate);
  });
}

void add_row_products(const ProductSizes& sizes, const ConstRows& x, const ConstRows& y, const GradRows& dW) {
  const auto [lines, k, m] = sizes;
  const Rows& out = dW.rows();
  const bool shared = out.shared() || y.count == 1;
  const bool together = shared && one_matrix(x, lines) && one_matrix(y, lines);
  const std::int64_t x_distance = distance(x, lines, k);
  const std::int64_t y_distance = distance(y, lines, m);
  for_each_run(y.count, lines, together, [&, k = k, m = m](std::int64_t r, std::int64_t count) {
    // A shared gradient is stored by the first run only.
    const bool accumulate = !dW.stores() || (shared && r > 0);
    kernels::product_transposed_a(k, m, count, x[r], x_distance, y[r], y_distance, out[shared ? 0 : r], m, accumulate);
  });
}

void rows_times_matrix_backward(const ProductSizes& sizes, const ConstRows& x, const ConstRows& W, const ConstRows& dy,
                                const GradRows& dx, const GradRows& dW) {
  if (dx) rows_times_transposed(sizes, dy, W, dx.rows(), !dx.stores());
  if (dW) add_row_products(sizes, x, dy, dW);
}

}  // namespace espalier::ops
