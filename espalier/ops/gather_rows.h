#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// The rows of all operands, one after the other. The result has as many rows as all of them together.
struct GatherRows {
  static constexpr std::string_view kName = "gather_rows";
  static constexpr std::string_view kContract = "y = x[0], x[1], ... as the rows of one node   any number of one shape";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kRagged}};
  static constexpr Keep kKeep{};
  static constexpr bool kRowAnOperand = true;
  static constexpr bool kPerInstance = true;
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  /// Of one row of the result.
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t j = 0; j < y.size(); ++j) y[j] = in[0][j];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r) std::copy_n(in[0][r], out.y.width, out.y[r]);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) grads[0].add(r, saved.dy[r]);
  }
  static Samples samples() { return {works_on<GatherRows>({{3}}), works_on<GatherRows>({{2, 3}})}; }
  static Refusals refusals() {
    return {
        refuses<GatherRows>({}, "gather_rows: needs at least one operand"),
        refuses<GatherRows>({{2}, {3}}, "gather_rows: x[0] is float32[2] and x[1] is float32[3]; all must be equal")};
  }
};

}  // namespace ops

/// One node with the rows of all of x, one after the other. Each operand may be a single row or have many.
inline Expr rows(const Operands& x) { return ops::record<ops::GatherRows>(x); }

}  // namespace espalier
