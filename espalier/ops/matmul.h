#pragma once

#include "espalier/ops/op.h"
#include "espalier/ops/product_rows.h"

namespace espalier {
namespace ops {

/// Either matrix may be shared or one per node. Nodes that share B run as one product.
struct Matmul {
  static constexpr std::string_view kName = "matmul";
  static constexpr std::string_view kContract = "y = A B   A: [i, k]   B: [k, j]   ->   y: [i, j]";
  static constexpr Kind kKind = Kind::kProduct;
  static constexpr std::array kInputs{Input{"A", Role::kEither, 0}, Input{"B", Role::kEither}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("A", 2);
    in.require_rank("B", 2);
    in.require_same("columns of A", in["A"][1], "rows of B", in["B"][0]);
    return {in["A"][0], in["B"][1]};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const auto rows = static_cast<std::size_t>(in.shape(0)[0]);
    const auto inner = static_cast<std::size_t>(in.shape(0)[1]);
    const auto columns = static_cast<std::size_t>(in.shape(1)[1]);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        T sum = 0;
        for (std::size_t k = 0; k < inner; ++k) sum += in[0][i * inner + k] * in[1][k * columns + j];
        y[i * columns + j] = sum;
      }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    rows_times_matrix(sizes(in), in[0], in[1], out.y);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    rows_times_matrix_backward(sizes(saved.in), saved.in[0], saved.in[1], saved.dy, grads[0], grads[1]);
  }
  static Samples samples() {
    return {gives<Matmul>({Tensor({2, 2}, {1, 2, 3, 4}), Tensor({2, 3}, {1, 0, -1, 2, 1, 0.5F})},
                          Tensor({2, 3}, {5, 2, 0, 11, 4, -1})),
            works_on<Matmul>({{3, 5}, {5, 2}}),
            works_on<Matmul>({{1, 1}, {1, 1}}),
            works_on<Matmul>({{1, 7}, {7, 9}}),
            works_on<Matmul>({{9, 1}, {1, 3}}),
            works_on<Matmul>({{17, 8}, {8, 19}})};
  }
  static Refusals refusals() {
    return {refuses<Matmul>({{2, 3}, {4, 5}}, "matmul: columns of A (3) and rows of B (4) differ"),
            refuses<Matmul>({{3}, {3, 4}}, "matmul: A must have rank 2, and [3] has rank 1"),
            refuses<Matmul>({{2, 3}, {3}}, "matmul: B must have rank 2, and [3] has rank 1")};
  }

 private:
  static ProductSizes sizes(const StepIn& in) { return {in.shape(0)[0], in.shape(0)[1], in.shape(1)[1]}; }
};

}  // namespace ops

/// The matrix product A B.
inline Expr matmul(Operand A, Operand B) { return ops::record<ops::Matmul>({A, B}); }

}  // namespace espalier
