#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// The index is a field: nodes that pick different elements run together.
struct Pick {
  static constexpr std::string_view kName = "pick";
  static constexpr std::string_view kContract = "y = x[index]   x: [n]   ->   y: []";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  struct Fields {
    std::int32_t index = 0;
  };

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    return {};
  }
  static std::int32_t choices(const Attrs&, const InputShapes& in) { return in["x"][0]; }
  static void check(const Attrs&, const Fields& fields, const InputShapes& in) {
    if (fields.index < 0 || fields.index >= in["x"][0])
      in.refuse("index " + std::to_string(fields.index) + " is outside x (0 to " + std::to_string(in["x"][0] - 1) +
                ")");
  }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    y[0] = in[0][static_cast<std::size_t>(fields.index)];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r) out.y[r][0] = in[0][r][in.fields<Fields>(r).index];
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r)
      grads[0].open(r)[static_cast<std::size_t>(saved.in.fields<Fields>(r).index)] += saved.dy[r][0];
  }
  static Samples samples() {
    return {gives<Pick>({Tensor({3}, {1, 2, 3})}, Tensor({}, {3}), {}, {2}), works_on<Pick>({{5}}, {}, {4}),
            works_on<Pick>({{1}}, {}, {0})};
  }
  static Refusals refusals() {
    return {refuses<Pick>({{3}}, "pick: index 3 is outside x (0 to 2)", {}, {3}),
            refuses<Pick>({{3, 3}}, "pick: x must have rank 1, and [3, 3] has rank 2")};
  }
};

}  // namespace ops

/// Element `index` of a vector.
inline Expr pick(Operand x, std::int32_t index) { return ops::record<ops::Pick>({x}, {}, {index}); }

}  // namespace espalier
