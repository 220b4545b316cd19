#pragma once

#include "espalier/ops/op.h"
#include "espalier/ops/product_rows.h"

namespace espalier {
namespace ops {

/// Nodes that share M run as one product of [n, k] by the transpose of M.
struct Matvec {
  static constexpr std::string_view kName = "matvec";
  static constexpr std::string_view kContract = "y = M v   M: [i, k]   v: [k]   ->   y: [i]";
  static constexpr Kind kKind = Kind::kProduct;
  static constexpr std::array kInputs{Input{"M", Role::kEither}, Input{"v", Role::kStacked, 0}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("M", 2);
    in.require_rank("v", 1);
    in.require_same("columns of M", in["M"][1], "size of v", in["v"][0]);
    return {in["M"][0]};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      T sum = 0;
      for (std::size_t k = 0; k < in[1].size(); ++k) sum += in[0][i * in[1].size() + k] * in[1][k];
      y[i] = sum;
    }
  }
  // y M = v^T would be a product with rows of y: what gives y from v is the transposed one.
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    rows_times_transposed({1, out.y.width, in[1].width}, in[1], in[0], out.y);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const ConstRows& v = saved.in[1];
    const ProductSizes sizes{1, saved.dy.width, v.width};
    if (grads[0]) add_row_products(sizes, saved.dy, v, grads[0]);
    if (grads[1]) rows_times_matrix(sizes, saved.dy, saved.in[0], grads[1].rows(), !grads[1].stores());
  }
  static Samples samples() {
    return {gives<Matvec>({Tensor({3, 2}, {1, 2, 3, 4, 5, 6}), Tensor({2}, {1, -2})}, Tensor({3}, {-3, -5, -7})),
            works_on<Matvec>({{5, 3}, {3}}), works_on<Matvec>({{1, 1}, {1}}), works_on<Matvec>({{33, 17}, {17}})};
  }
  static Refusals refusals() {
    return {refuses<Matvec>({{3, 4}, {3}}, "matvec: columns of M (4) and size of v (3) differ"),
            refuses<Matvec>({{3}, {3}}, "matvec: M must have rank 2, and [3] has rank 1"),
            refuses<Matvec>({{3, 4}, {4, 1}}, "matvec: v must have rank 1, and [4, 1] has rank 2")};
  }
};

}  // namespace ops

/// The matrix M times the vector v.
inline Expr matvec(Operand M, Operand v) { return ops::record<ops::Matvec>({M, v}); }

}  // namespace espalier
