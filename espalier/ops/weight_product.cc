#include "espalier/ops/weight_product.h"

#include <algorithm>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/kernels/grain.h"
#include "espalier/kernels/prepared.h"
#include "espalier/kernels/product.h"
#include "espalier/kernels/row_sum.h"
#include "espalier/kernels/rows.h"
#include "espalier/kernels/small_product.h"
#include "espalier/ops/product_log.h"
#include "espalier/ops/product_rows.h"

namespace espalier::ops {
namespace {

/// Rows that are gathered at a time stay in the cache until they are multiplied.
constexpr std::int64_t kGathered = 64;
/// Rows that a gradient of weights takes at a time, gathered or not: more would leave the cache (300 x 750: 165 GFLOP/s
/// at 256 rows, 150 at 1152), and bits are the same wherever the rows lie.
constexpr std::int64_t kRowsForGradient = 256;

std::int64_t distance(const ConstRows& rows) { return std::max(rows.stride, rows.width); }

/// Evenly spaced rows as a matrix; a single row may have an offset.
template <class T>
BasicRows<T> as_matrix(const BasicRows<T>& rows) {
  return rows.count == 1 ? BasicRows<T>{rows[0], 1, rows.width, rows.width, nullptr} : rows;
}

/// The rows as a matrix: as they are if evenly spaced, else copied to `memory`.
ConstRows side_by_side(const ConstRows& rows, std::vector<float>& memory) {
  if (rows.even()) return as_matrix(rows);
  const ProductLog::Watch watch(BesideProducts::kGathering);
  const auto width = static_cast<std::size_t>(rows.width);
  memory.resize(static_cast<std::size_t>(rows.count) * width);
  for (std::int64_t r = 0; r < rows.count; ++r)
    kernels::copy({rows[r], width}, {memory.data() + r * rows.width, width});
  return {memory.data(), rows.count, rows.width, rows.width, nullptr};
}

void put(const ConstRows& from, const Rows& to, bool accumulate) {
  const auto width = static_cast<std::size_t>(from.width);
  for (std::int64_t r = 0; r < from.count; ++r) {
    if (accumulate)
      kernels::add({from[r], width}, {to[r], width});
    else
      kernels::copy({from[r], width}, {to[r], width});
  }
}

void relu_rows(const Rows& rows) {
  if (rows.dense()) {
    kernels::relu({rows[0], static_cast<std::size_t>(rows.count * rows.width)});
    return;
  }
  for (std::int64_t r = 0; r < rows.count; ++r) kernels::relu({rows[r], static_cast<std::size_t>(rows.width)});
}

/// Calls product(x, y, accumulate) with evenly spaced rows only.
template <class Product>
void by_even_rows(const ConstRows& x, const Rows& y, bool accumulate, const Product& product) {
  if (x.even() && y.even()) {
    product(as_matrix(x), as_matrix(y), accumulate);
    return;
  }
  parallel_for(x.count, kGathered, [&](std::int64_t begin, std::int64_t end) {
    thread_local std::vector<float> gathered;
    thread_local std::vector<float> results;
    for (; begin < end; begin += kGathered) {
      const std::int64_t count = std::min(kGathered, end - begin);
      const ConstRows from = side_by_side(piece_of(x, begin, count), gathered);
      const Rows to = piece_of(y, begin, count);
      if (to.even()) {
        product(from, as_matrix(to), accumulate);
        continue;
      }
      results.resize(static_cast<std::size_t>(count * y.width));
      const Rows dense{results.data(), count, y.width, y.width, nullptr};
      product(from, dense, false);
      const ProductLog::Watch watch(BesideProducts::kGathering);
      put(dense, to, accumulate);
    }
  });
}

/// Y = X W + bias for small weights w[k, m] with rows `next` numbers apart, wherever the rows of X and Y lie.
void multiply_by_small(const ConstRows& x, const float* w, std::int64_t next, const float* bias, const Rows& y,
                       bool accumulate, bool relu) {
  parallel_for(x.count, kernels::grain_for(x.width * y.width), [&](std::int64_t begin, std::int64_t end) {
    kernels::small_product(piece_of(x, begin, end - begin), w, next, bias, piece_of(y, begin, end - begin), accumulate,
                           relu);
  });
}

/// The weights laid out for products, or null where they are multiplied as they are.
const kernels::Prepared* find_prepared(const Weights& W, bool transposed) {
  if (W.parameter == nullptr) return nullptr;
  const ProductLog::Watch watch(BesideProducts::kPreparing);
  if (!W.is_part) return W.parameter->prepared(W.k, W.m, transposed, W.use);
  return W.parameter->prepared_rows(W.before, W.k, W.m, W.use);
}

}  // namespace

void multiply_by_weights(const ConstRows& x, const Weights& W, const float* bias, const Rows& y, bool accumulate,
                         bool relu) {
  if (kernels::is_small_product(x.count, W.k, W.m)) {
    const ProductLog::Watch watch({ProductKind::kForward, x.count, W.k, W.m, false, bias != nullptr, accumulate});
    multiply_by_small(x, W.data, W.m, bias, y, accumulate, relu);
    return;
  }
  const kernels::Prepared* prepared = find_prepared(W, /*transposed=*/false);
  by_even_rows(x, y, accumulate, [&](const ConstRows& from, const Rows& to, bool add) {
    const ProductLog::Watch watch(
        {ProductKind::kForward, from.count, W.k, W.m, prepared != nullptr, bias != nullptr, add});
    if (prepared != nullptr)
      prepared->product(from.count, from.data, distance(from), bias, to.data, distance(to), add);
    else
      kernels::affine(from.count, W.m, W.k, from.data, distance(from), W.data, W.m, bias, to.data, distance(to), add);
    // Where it is yet to be added to rows that lie anywhere, these follow.
    if (relu && add == accumulate) relu_rows(to);
  });
  if (relu && accumulate && !y.even()) relu_rows(y);
}

void multiply_by_transposed(const ConstRows& y, const Weights& W, const Rows& x, bool accumulate) {
  const kernels::Prepared* prepared = find_prepared(W, /*transposed=*/true);
  const float* copy = prepared == nullptr ? nullptr : prepared->plain();
  const auto product_of = [&](std::int64_t rows, bool add) {
    return Product{ProductKind::kInputGradient, rows, W.k, W.m, prepared != nullptr, false, add};
  };
  if (copy != nullptr && kernels::is_small_product(y.count, W.m, W.k)) {
    const ProductLog::Watch watch(product_of(y.count, accumulate));
    multiply_by_small(y, copy, W.k, nullptr, x, accumulate, /*relu=*/false);
    return;
  }
  if (prepared == nullptr && kernels::is_small_transposed(y.count, W.k, W.m)) {
    const ProductLog::Watch watch(product_of(y.count, accumulate));
    kernels::small_product_transposed(y, W.data, W.m, x, accumulate);
    return;
  }
  by_even_rows(y, x, accumulate, [&](const ConstRows& from, const Rows& to, bool add) {
    const ProductLog::Watch watch(product_of(from.count, add));
    if (prepared != nullptr)
      prepared->product(from.count, from.data, distance(from), nullptr, to.data, distance(to), add);
    else
      kernels::product_transposed_b(from.count, W.k, W.m, from.data, distance(from), W.data, W.m, to.data, distance(to),
                                    add);
  });
}

void weight_gradient(const ConstRows& x, const ConstRows& dy, float* dW, std::int64_t next, bool accumulate,
                     float* db) {
  if (kernels::is_small_gradient(x.count, x.width, dy.width)) {
    const ProductLog::Watch watch({ProductKind::kWeightGradient, x.count, x.width, dy.width, false, false, accumulate});
    parallel_for(x.width, kernels::grain_for(x.count * dy.width), [&](std::int64_t begin, std::int64_t end) {
      kernels::small_weight_gradient({x.data + begin, x.count, end - begin, x.stride, x.offsets}, dy, dW + begin * next,
                                     next, accumulate);
    });
    if (db != nullptr) kernels::add_rows(dy, db);
    return;
  }
  const auto add = [&](const ConstRows& a, const ConstRows& b) {
    const ProductLog::Watch watch({ProductKind::kWeightGradient, a.count, a.width, b.width, false, false, accumulate});
    kernels::product_transposed_a(a.width, b.width, a.count, a.data, distance(a), b.data, distance(b), dW, next,
                                  accumulate);
    accumulate = true;
  };
  thread_local std::vector<float> gathered_x;
  thread_local std::vector<float> gathered_dy;
  for (std::int64_t begin = 0; begin < x.count; begin += kRowsForGradient) {
    const std::int64_t count = std::min(kRowsForGradient, x.count - begin);
    const ConstRows of_rows = side_by_side(piece_of(dy, begin, count), gathered_dy);
    add(side_by_side(piece_of(x, begin, count), gathered_x), of_rows);
    if (db != nullptr) kernels::add_rows(of_rows, db);
  }
}

void affine_forward(const StepIn& in, bool has_bias, const Rows& y) {
  if (in[1].shared() && (!has_bias || in[2].shared())) {
    multiply_by_weights(in[0], Weights::of(in, 1, in[0].width, y.width), has_bias ? in[2].data : nullptr, y, false);
    return;
  }
  if (has_bias) put({in[2].data, y.count, y.width, in[2].stride, in[2].offsets}, y, false);
  rows_times_matrix(in[0], in[1], y, has_bias);
}

void affine_backward(const Saved& saved, const GradRows& dx, const GradRows& dW, const GradRows& db) {
  const StepIn& in = saved.in;
  const bool shared = in[1].shared() || in.rows == 1;
  if (dx && shared)
    multiply_by_transposed(saved.dy, Weights::of(in, 1, in[0].width, saved.dy.width), dx.rows(), !dx.stores());
  if (dx && !shared) rows_times_transposed({1, in[0].width, saved.dy.width}, saved.dy, in[1], dx.rows(), !dx.stores());
  const bool db_is_shared = db && db.rows().shared();
  if (db_is_shared && db.stores()) kernels::fill(0.0F, {db.rows().data, static_cast<std::size_t>(db.width())});
  float* const sum = db_is_shared ? db.rows().data : nullptr;
  if (dW && dW.rows().shared()) {
    weight_gradient(in[0], saved.dy, dW.rows().data, saved.dy.width, !dW.stores(), sum);
  } else {
    if (dW) add_row_products({1, in[0].width, saved.dy.width}, in[0], saved.dy, dW);
    if (sum != nullptr) kernels::add_rows(saved.dy, sum);
  }
  if (db && !db_is_shared)
    for (std::int64_t r = 0; r < in.rows; ++r) db.add(r, saved.dy[r]);
}

}  // namespace espalier::ops
