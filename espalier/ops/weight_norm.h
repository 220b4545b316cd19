#pragma once

#include <cmath>
#include <vector>

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// Salimans and Kingma, "Weight Normalization" (2016). A column of zeros stays one, and gets no gradient. Forward
/// leaves 1 / length of each column, 0 for a column of zeros.
struct WeightNorm {
  static constexpr std::string_view kName = "weight_norm";
  static constexpr std::string_view kContract =
      "W[:, j] = g[j] V[:, j] / length of V[:, j]   V: [k, m]   g: [m]   ->   W: [k, m]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"V", Role::kStacked}, Input{"g", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("V", 2);
    in.require_rank("g", 1);
    in.require_same("columns of V", in["V"][1], "size of g", in["g"][0]);
    return in["V"];
  }
  static std::int64_t saved(const Attrs&, const InputShapes& in) { return in["g"][0]; }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::sqrt;
    const std::size_t columns = in[1].size();
    for (std::size_t j = 0; j < columns; ++j) {
      T squares = 0;
      for (std::size_t at = j; at < y.size(); at += columns) squares += in[0][at] * in[0][at];
      for (std::size_t at = j; at < y.size(); at += columns)
        y[at] = squares == T(0) ? T(0) : in[1][j] * in[0][at] / sqrt(squares);
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto columns = static_cast<std::size_t>(in[1].width);
    const auto rows = static_cast<std::size_t>(in.shape(0)[0]);
    std::vector<float> factors(columns);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const std::span<float> inverse(out.saved[r], columns);
      kernels::fill(0, inverse);
      for (std::size_t i = 0; i < rows; ++i) {
        const std::span<const float> row(in[0][r] + i * columns, columns);
        kernels::multiply_add(row, row, inverse);
      }
      for (std::size_t j = 0; j < columns; ++j) {
        inverse[j] = inverse[j] == 0 ? 0 : 1 / std::sqrt(inverse[j]);
        factors[j] = in[1][r][j] * inverse[j];
      }
      kernels::fill(0, {out.y[r], rows * columns});
      for (std::size_t i = 0; i < rows; ++i)
        kernels::multiply_add({in[0][r] + i * columns, columns}, factors, {out.y[r] + i * columns, columns});
    }
  }
  // With u = V / length and s[j] = sum of dW[:, j] u[:, j]:  dg = s,  dV = g / length (dW - s u).
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const auto columns = static_cast<std::size_t>(saved.in[1].width);
    const auto rows = static_cast<std::size_t>(saved.in.shape(0)[0]);
    std::vector<float> along(columns);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* V = saved.in[0][r];
      const float* dW = saved.dy[r];
      const float* inverse = saved.saved[r];
      kernels::fill(0, along);
      for (std::size_t i = 0; i < rows; ++i)
        kernels::multiply_add({dW + i * columns, columns}, {V + i * columns, columns}, along);
      for (std::size_t j = 0; j < columns; ++j) along[j] *= inverse[j];
      if (grads[1]) grads[1].add(r, along.data());
      if (!grads[0]) continue;
      const std::span<float> dV = grads[0].open(r);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
          const std::size_t at = i * columns + j;
          dV[at] += saved.in[1][r][j] * inverse[j] * (dW[at] - along[j] * V[at] * inverse[j]);
        }
    }
  }
  static Samples samples() {
    // The columns have the lengths 5 and 2.
    return {gives<WeightNorm>({Tensor({2, 2}, {3, 0, -4, 2}), Tensor({2}, {10, -1})}, Tensor({2, 2}, {6, 0, -8, -1})),
            works_on<WeightNorm>({{1, 1}, {1}}), works_on<WeightNorm>({{3, 5}, {5}}),
            works_on<WeightNorm>({{40, 7}, {7}})};
  }
  static Refusals refusals() {
    return {refuses<WeightNorm>({{3}, {3}}, "weight_norm: V must have rank 2, and [3] has rank 1"),
            refuses<WeightNorm>({{3, 2}, {1, 2}}, "weight_norm: g must have rank 1, and [1, 2] has rank 2"),
            refuses<WeightNorm>({{3, 2}, {3}}, "weight_norm: columns of V (2) and size of g (3) differ")};
  }
};

}  // namespace ops

/// Weights whose columns have the directions of V's and the lengths g.
inline Expr weight_norm(Operand V, Operand g) { return ops::record<ops::WeightNorm>({V, g}); }

}  // namespace espalier
