#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Sum {
  static constexpr std::string_view kName = "sum";
  static constexpr std::string_view kContract = "y = x[0] + x[1] + ...   any number of one shape";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kRagged}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  static double weight(std::size_t) { return 1; }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      T sum = in[0][j];
      for (std::size_t i = 1; i < in.size(); ++i) sum += in[i][j];
      y[j] = sum;
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(out.y.width);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      if (width == 1) {
        float sum = *in[0][in.offsets[r]];
        for (std::int64_t i = in.offsets[r] + 1; i < in.offsets[r + 1]; ++i) sum += *in[0][i];
        *out.y[r] = sum;
        continue;
      }
      const std::span<float> y(out.y[r], width);
      kernels::copy({in[0][in.offsets[r]], width}, y);
      for (std::int64_t i = in.offsets[r] + 1; i < in.offsets[r + 1]; ++i) kernels::add({in[0][i], width}, y);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r)
      for (std::int64_t i = saved.in.offsets[r]; i < saved.in.offsets[r + 1]; ++i) grads[0].add(i, saved.dy[r]);
  }
  static Samples samples() {
    return {gives<Sum>({Tensor({2}, {1, 2}), Tensor({2}, {3, 4}), Tensor({2}, {5, 6})}, Tensor({2}, {9, 12})),
            works_on<Sum>({{3}}), works_on<Sum>({{4}, {4}}), works_on<Sum>({{2, 3}, {2, 3}, {2, 3}, {2, 3}})};
  }
  static Refusals refusals() {
    return {refuses<Sum>({}, "sum: needs at least one operand"),
            refuses<Sum>({{2}, {2}, {3}}, "sum: x[0] is float32[2] and x[2] is float32[3]; all must be equal")};
  }
};

}  // namespace ops

/// The sum, element by element, of any number of tensors of one shape, and of all their rows if they have many. The
/// number is not part of the signature. sum(x) of a single tensor adds its elements (ops/sum_axis.h).
inline Expr sum(const Operands& x) { return ops::record<ops::Sum>(x); }

}  // namespace espalier
