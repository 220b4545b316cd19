#pragma once

#include "espalier/ops/op.h"
#include "espalier/ops/product_rows.h"
#include "espalier/ops/weight_product.h"

namespace espalier {
namespace ops {

/// Nodes that share W run as one product of [n, k] by [k, m].
struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kContract = "y = x W   x: [k]   W: [k, m]   ->   y: [m]";
  static constexpr Kind kKind = Kind::kProduct;
  static constexpr std::array kInputs{Input{"x", Role::kStacked, 0}, Input{"W", Role::kEither}};
  static constexpr Keep kKeep{.inputs = true};
  static constexpr bool kGathers = true;
  static constexpr bool kStoresShared = true;
  static constexpr std::uint32_t kAddsOnly = 0b10;  // W
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    in.require_rank("W", 2);
    in.require_same("size of x", in["x"][0], "rows of W", in["W"][0]);
    return {in["W"][1]};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      T sum = 0;
      for (std::size_t i = 0; i < in[0].size(); ++i) sum += in[0][i] * in[1][i * y.size() + j];
      y[j] = sum;
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    affine_forward(in, /*has_bias=*/false, out.y);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    affine_backward(saved, grads[0], grads[1], GradRows());
  }
  static Samples samples() {
    return {gives<Linear>({Tensor({2}, {1, 2}), Tensor({2, 3}, {1, 2, 3, 4, 5, 6})}, Tensor({3}, {9, 12, 15})),
            works_on<Linear>({{5}, {5, 3}}), works_on<Linear>({{1}, {1, 1}}), works_on<Linear>({{17}, {17, 33}})};
  }
  static Refusals refusals() {
    return {refuses<Linear>({{50}, {64, 128}}, "linear: size of x (50) and rows of W (64) differ"),
            refuses<Linear>({{2, 3}, {3, 4}}, "linear: x must have rank 1, and [2, 3] has rank 2"),
            refuses<Linear>({{3}, {3}}, "linear: W must have rank 2, and [3] has rank 1")};
  }
};

}  // namespace ops

/// x W, for a vector x and a matrix W of [size of x, size of the result].
inline Expr linear(Operand x, Operand W) { return ops::record<ops::Linear>({x, W}); }

}  // namespace espalier
