#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Dot {
  static constexpr std::string_view kName = "dot";
  static constexpr std::string_view kContract = "y = sum of a[i] b[i]   a, b: [n]   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"a", Role::kStacked}, Input{"b", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("a", 1);
    in.require_rank("b", 1);
    in.require_same("size of a", in["a"][0], "size of b", in["b"][0]);
    return {};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    T sum = 0;
    for (std::size_t i = 0; i < in[0].size(); ++i) sum += in[0][i] * in[1][i];
    y[0] = sum;
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(in[0].width);
    for (std::int64_t r = 0; r < in.rows; ++r) out.y[r][0] = kernels::dot({in[0][r], width}, {in[1][r], width});
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      if (grads[0]) grads[0].add_scaled(r, saved.dy[r][0], saved.in[1][r]);
      if (grads[1]) grads[1].add_scaled(r, saved.dy[r][0], saved.in[0][r]);
    }
  }
  static Samples samples() {
    return {gives<Dot>({Tensor({3}, {1, 2, 3}), Tensor({3}, {4, -5, 6})}, Tensor({}, {12})), works_on<Dot>({{1}, {1}}),
            works_on<Dot>({{7}, {7}}), works_on<Dot>({{133}, {133}})};
  }
  static Refusals refusals() {
    return {refuses<Dot>({{2}, {3}}, "dot: size of a (2) and size of b (3) differ"),
            refuses<Dot>({{}, {}}, "dot: a must have rank 1, and [] has rank 0"),
            refuses<Dot>({{3}, {1, 3}}, "dot: b must have rank 1, and [1, 3] has rank 2")};
  }
};

}  // namespace ops

/// The dot product of two vectors.
inline Expr dot(Operand a, Operand b) { return ops::record<ops::Dot>({a, b}); }

}  // namespace espalier
