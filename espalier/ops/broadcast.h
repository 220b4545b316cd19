#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Broadcast {
  static constexpr std::string_view kName = "broadcast";
  static constexpr std::string_view kContract = "y = x everywhere   x: []   ->   y: [any shape]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  struct Attrs {
    Shape shape;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_rank("x", 0);
    return attrs.shape;
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (T& element : y) element = in[0][0];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r)
      kernels::fill(in[0][r][0], {out.y[r], static_cast<std::size_t>(out.y.width)});
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r)
      grads[0].add_constant(r, kernels::sum({saved.dy[r], static_cast<std::size_t>(saved.dy.width)}));
  }
  static Samples samples() {
    return {gives<Broadcast>({Tensor({}, {3})}, Tensor({2, 2}, {3, 3, 3, 3}), {{2, 2}}),
            works_on<Broadcast>({{}}, {{7}}), works_on<Broadcast>({{}}, {{}})};
  }
  static Refusals refusals() {
    return {refuses<Broadcast>({{1}}, "broadcast: x must have rank 0, and [1] has rank 1", {{3}})};
  }
};

}  // namespace ops

/// A tensor of `shape` filled with x, which must have rank 0.
inline Expr broadcast(Operand x, const Shape& shape) { return ops::record<ops::Broadcast>({x}, {shape}); }

}  // namespace espalier
