#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernels/product.h"
#include "espalier/ops/op.h"
#include "espalier/ops/product_rows.h"

namespace espalier {
namespace ops {

/// W lies as [i, m * j], so that x W is one product for all nodes that share W; what is left is [m, j] by z, row by
/// row.
struct Bilinear {
  static constexpr std::string_view kName = "bilinear";
  static constexpr std::string_view kContract =
      "y[m] = sum over i, j of x[i] W[i, m, j] z[j]   x: [i]   W: [i, m, j]   z: [j]   ->   y: [m]";
  static constexpr Kind kKind = Kind::kProduct;
  static constexpr std::array kInputs{Input{"x", Role::kStacked, 0}, Input{"W", Role::kEither},
                                      Input{"z", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    in.require_rank("W", 3);
    in.require_rank("z", 1);
    in.require_same("size of x", in["x"][0], "first size of W", in["W"][0]);
    in.require_same("size of z", in["z"][0], "last size of W", in["W"][2]);
    return {in["W"][1]};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const std::size_t size = in[2].size();
    for (std::size_t m = 0; m < y.size(); ++m) {
      T sum = 0;
      for (std::size_t i = 0; i < in[0].size(); ++i)
        for (std::size_t j = 0; j < size; ++j) sum += in[0][i] * in[1][(i * y.size() + m) * size + j] * in[2][j];
      y[m] = sum;
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const Pieces pieces(in);
    std::vector<float> memory(pieces.floats());
    for (std::int64_t begin = 0; begin < in.rows; begin += pieces.rows) {
      const Rows xw = pieces.first(memory, begin);
      rows_times_matrix(piece_of(in[0], begin, xw.count), piece_of(in[1], begin, xw.count), xw);
      for (std::int64_t r = 0; r < xw.count; ++r)
        kernels::product_transposed_b(1, pieces.m, pieces.j, in[2][begin + r], pieces.j, xw[r], pieces.j,
                                      out.y[begin + r], pieces.m, false);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const StepIn& in = saved.in;
    const Pieces pieces(in);
    std::vector<float> memory(pieces.floats());
    for (std::int64_t begin = 0; begin < in.rows; begin += pieces.rows) {
      const Rows xw = pieces.first(memory, begin);
      const ConstRows x = piece_of(in[0], begin, xw.count);
      const ConstRows W = piece_of(in[1], begin, xw.count);
      if (grads[2]) {
        rows_times_matrix(x, W, xw);
        for (std::int64_t r = 0; r < xw.count; ++r)
          kernels::product(1, pieces.j, pieces.m, saved.dy[begin + r], pieces.m, xw[r], pieces.j,
                           grads[2].rows()[begin + r], pieces.j, !grads[2].stores());
      }
      if (!grads[0] && !grads[1]) continue;
      // The gradient by x W takes its place.
      for (std::int64_t r = 0; r < xw.count; ++r)
        kernels::product_transposed_a(pieces.m, pieces.j, 1, saved.dy[begin + r], pieces.m, in[2][begin + r], pieces.j,
                                      xw[r], pieces.j, false);
      rows_times_matrix_backward(x, W, xw, piece_of(grads[0], begin, xw.count), piece_of(grads[1], begin, xw.count));
    }
  }
  static Samples samples() {
    return {gives<Bilinear>({Tensor({2}, {1, 2}), Tensor({2, 1, 3}, {1, 0, 2, 0, 1, -1}), Tensor({3}, {3, 5, 7})},
                            Tensor({1}, {13})),
            gives<Bilinear>({Tensor({1}, {2}), Tensor({1, 2, 2}, {1, 2, 3, 4}), Tensor({2}, {10, 1})},
                            Tensor({2}, {24, 68})),
            works_on<Bilinear>({{3}, {3, 4, 5}, {5}}), works_on<Bilinear>({{1}, {1, 1, 1}, {1}}),
            works_on<Bilinear>({{9}, {9, 2, 7}, {7}})};
  }
  static Refusals refusals() {
    return {refuses<Bilinear>({{2}, {3, 4, 5}, {5}}, "bilinear: size of x (2) and first size of W (3) differ"),
            refuses<Bilinear>({{3}, {3, 4, 5}, {4}}, "bilinear: size of z (4) and last size of W (5) differ"),
            refuses<Bilinear>({{3}, {3, 5}, {5}}, "bilinear: W must have rank 3, and [3, 5] has rank 2"),
            refuses<Bilinear>({{}, {1, 4, 5}, {5}}, "bilinear: x must have rank 1, and [] has rank 0"),
            refuses<Bilinear>({{3}, {3, 4, 5}, {5, 1}}, "bilinear: z must have rank 1, and [5, 1] has rank 2")};
  }

 private:
  /// x W is large: it is made for some rows at a time, in memory that stays in the cache.
  struct Pieces {
    std::int64_t all;
    std::int64_t m;
    std::int64_t j;
    std::int64_t rows;

    explicit Pieces(const StepIn& in) : all(in.rows), m(in.shape(1)[1]), j(in.shape(1)[2]) {
      constexpr std::int64_t kFloats = std::int64_t{1} << 16;
      rows = std::clamp<std::int64_t>(kFloats / std::max<std::int64_t>(m * j, 1), 1, std::max<std::int64_t>(all, 1));
    }
    std::size_t floats() const { return static_cast<std::size_t>(rows * m * j); }
    Rows first(std::vector<float>& memory, std::int64_t begin) const {
      return {memory.data(), std::min(rows, all - begin), m * j, m * j, nullptr};
    }
  };
};

}  // namespace ops

/// For every m, the sum over i and j of x[i] W[i, m, j] z[j].
inline Expr bilinear(Operand x, Operand W, Operand z) { return ops::record<ops::Bilinear>({x, W, z}); }

}  // namespace espalier
