/// Products of many rows with one matrix of weights, and their gradients: what linear ops and cells are made of.
///
/// Rows may lie anywhere: what is not evenly spaced passes through memory of the thread, a few rows at a time.
///
/// Thread safety: functions of their arguments alone; large products split themselves over the pool.
#pragma once

#include <cstdint>

#include "espalier/graph/parameter.h"
#include "espalier/ops/step.h"
#include "espalier/tensor/rows.h"

namespace espalier::ops {

/// W[k, m], row-major without gaps.
struct Weights {
  const float* data = nullptr;
  std::int64_t k = 0;
  std::int64_t m = 0;
  /// Where W is a parameter: its layouts for products are used where that pays.
  const Parameter* parameter = nullptr;
  WeightUse use;
  /// Where W is some rows of a parameter only: those before.
  bool is_part = false;
  std::int64_t before = 0;

  /// Input i of a step, which must be shared, or there must be one row.
  static Weights of(const StepIn& in, std::size_t i, std::int64_t k, std::int64_t m) {
    return {in[i][0], k, m, in.parameter(i), in.use};
  }
  /// `count` rows from row `begin` on.
  Weights rows(std::int64_t begin, std::int64_t count) const {
    if (count == k) return *this;
    return {data + begin * m, count, m, parameter, use, /*is_part=*/true, begin};
  }
};

/// Y = X W + bias, or += with `accumulate`; with `relu`, what is negative then becomes 0. `bias` may be null; W is
/// whole.
void multiply_by_weights(const ConstRows& x, const Weights& W, const float* bias, const Rows& y, bool accumulate,
                         bool relu = false);
/// X = Y W^T, or +=.
void multiply_by_transposed(const ConstRows& y, const Weights& W, const Rows& x, bool accumulate);
/// dW[k, m] = X^T dY over all rows, or +=. Row i of dW begins `next` numbers behind the one before. The sum of all rows
/// of dY, the gradient of a bias, is added to `db`, while they are in the cache, unless that is null.
void weight_gradient(const ConstRows& x, const ConstRows& dy, float* dW, std::int64_t next, bool accumulate,
                     float* db = nullptr);

/// The step kernels of y = x W (+ b), for inputs x, W and b; W and b may also be one a row.
void affine_forward(const StepIn& in, bool has_bias, const Rows& y);
void affine_backward(const Saved& saved, const GradRows& dx, const GradRows& dW, const GradRows& db);

}  // namespace espalier::ops
