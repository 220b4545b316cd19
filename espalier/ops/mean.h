#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Mean {
  static constexpr std::string_view kName = "mean";
  static constexpr std::string_view kContract = "y = (x[0] + x[1] + ...) / how many   any number of one shape";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kRagged}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  static double weight(std::size_t operands) { return 1 / static_cast<double>(operands); }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      T sum = in[0][j];
      for (std::size_t i = 1; i < in.size(); ++i) sum += in[i][j];
      y[j] = sum / static_cast<T>(static_cast<double>(in.size()));
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(out.y.width);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const std::span<float> y(out.y[r], width);
      kernels::copy({in[0][in.offsets[r]], width}, y);
      for (std::int64_t i = in.offsets[r] + 1; i < in.offsets[r + 1]; ++i) kernels::add({in[0][i], width}, y);
      kernels::scale(part_of(in, r), y);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r)
      for (std::int64_t i = saved.in.offsets[r]; i < saved.in.offsets[r + 1]; ++i)
        grads[0].add_scaled(i, part_of(saved.in, r), saved.dy[r]);
  }
  static Samples samples() {
    return {gives<Mean>({Tensor({2}, {1, 2}), Tensor({2}, {3, 4}), Tensor({2}, {5, -3})}, Tensor({2}, {3, 1})),
            works_on<Mean>({{3}}), works_on<Mean>({{4}, {4}}), works_on<Mean>({{}, {}, {}}),
            works_on<Mean>({{2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}})};
  }
  static Refusals refusals() {
    return {refuses<Mean>({}, "mean: needs at least one operand"),
            refuses<Mean>({{2}, {2}, {3}}, "mean: x[0] is float32[2] and x[2] is float32[3]; all must be equal")};
  }

 private:
  static float part_of(const StepIn& in, std::int64_t r) {
    return 1.0F / static_cast<float>(in.offsets[r + 1] - in.offsets[r]);
  }
};

}  // namespace ops

/// The mean, element by element, of any number of tensors of one shape, and of all their rows if they have many. The
/// number is not part of the signature. mean(x) of a single tensor is over its elements (ops/mean_axis.h).
inline Expr mean(const Operands& x) { return ops::record<ops::Mean>(x); }

}  // namespace espalier
