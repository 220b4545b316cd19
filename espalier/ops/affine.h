#pragma once

#include "espalier/ops/op.h"
#include "espalier/ops/product_rows.h"
#include "espalier/ops/weight_product.h"

namespace espalier {
namespace ops {

/// Nodes that share W run as one product of [n, k] by [k, m].
struct Affine {
  static constexpr std::string_view kName = "affine";
  static constexpr std::string_view kContract = "y = x W + b   x: [k]   W: [k, m]   b: [m]   ->   y: [m]";
  static constexpr Kind kKind = Kind::kProduct;
  static constexpr std::array kInputs{Input{"x", Role::kStacked, 0}, Input{"W", Role::kEither},
                                      Input{"b", Role::kEither}};
  static constexpr Keep kKeep{.only = {"x", "W"}};
  static constexpr bool kGathers = true;
  static constexpr bool kStoresShared = true;
  static constexpr std::uint32_t kAddsOnly = 0b110;  // W and b
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    in.require_rank("W", 2);
    in.require_rank("b", 1);
    in.require_same("size of x", in["x"][0], "rows of W", in["W"][0]);
    in.require_same("size of b", in["b"][0], "columns of W", in["W"][1]);
    return {in["W"][1]};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      T sum = in[2][j];
      for (std::size_t i = 0; i < in[0].size(); ++i) sum += in[0][i] * in[1][i * y.size() + j];
      y[j] = sum;
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    affine_forward(in, /*has_bias=*/true, out.y);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    affine_backward(saved, grads[0], grads[1], grads[2]);
  }
  static Samples samples() {
    return {gives<Affine>({Tensor({2}, {1, 2}), Tensor({2, 3}, {1, 2, 3, 4, 5, 6}), Tensor({3}, {0.5F, -1, 10})},
                          Tensor({3}, {9.5F, 11, 25})),
            works_on<Affine>({{5}, {5, 3}, {3}}), works_on<Affine>({{1}, {1, 1}, {1}}),
            works_on<Affine>({{17}, {17, 33}, {33}})};
  }
  static Refusals refusals() {
    return {refuses<Affine>({{50}, {64, 128}, {128}}, "affine: size of x (50) and rows of W (64) differ"),
            refuses<Affine>({{50}, {50, 128}, {64}}, "affine: size of b (64) and columns of W (128) differ"),
            refuses<Affine>({{2, 3}, {3, 4}, {4}}, "affine: x must have rank 1, and [2, 3] has rank 2"),
            refuses<Affine>({{3}, {3}, {3}}, "affine: W must have rank 2, and [3] has rank 1"),
            refuses<Affine>({{3}, {3, 1}, {}}, "affine: b must have rank 1, and [] has rank 0")};
  }
};

}  // namespace ops

/// x W + b, for a vector x, a matrix W of [size of x, size of the result] and a vector b.
inline Expr affine(Operand x, Operand W, Operand b) { return ops::record<ops::Affine>({x, W, b}); }

}  // namespace espalier
