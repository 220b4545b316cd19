#pragma once

#include <cmath>

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// At 0 the gradient is 0.
struct L2Norm {
  static constexpr std::string_view kName = "l2_norm";
  static constexpr std::string_view kContract = "y = sqrt(sum of x[i]^2)   x: [n]   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true, .output = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    return {};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::sqrt;
    T sum = 0;
    for (const T& x : in[0]) sum += x * x;
    y[0] = sum == T(0) ? T(0) : sqrt(sum);
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r)
      out.y[r][0] = std::sqrt(kernels::squared_norm({in[0][r], static_cast<std::size_t>(in[0].width)}));
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float norm = saved.y[r][0];
      grads[0].add_scaled(r, norm == 0 ? 0.0F : saved.dy[r][0] / norm, saved.in[0][r]);
    }
  }
  static Samples samples() {
    return {gives<L2Norm>({Tensor({2}, {3, -4})}, Tensor({}, {5})),
            gives<L2Norm>({Tensor({3}, {0, 0, 0})}, Tensor({}, {0})), works_on<L2Norm>({{1}}), works_on<L2Norm>({{7}}),
            works_on<L2Norm>({{133}})};
  }
  static Refusals refusals() {
    return {refuses<L2Norm>({{}}, "l2_norm: x must have rank 1, and [] has rank 0"),
            refuses<L2Norm>({{2, 3}}, "l2_norm: x must have rank 1, and [2, 3] has rank 2")};
  }
};

}  // namespace ops

/// The Euclidean length of a vector.
inline Expr l2_norm(Operand x) { return ops::record<ops::L2Norm>({x}); }

}  // namespace espalier
