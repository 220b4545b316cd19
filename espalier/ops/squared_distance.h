#pragma once

#include <vector>

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct SquaredDistance {
  static constexpr std::string_view kName = "squared_distance";
  static constexpr std::string_view kContract = "y = sum of (a[i] - b[i])^2   a: [any shape]   b: as a   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"a", Role::kStacked}, Input{"b", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_same_shape("a", "b");
    return {};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    T sum = 0;
    for (std::size_t i = 0; i < in[0].size(); ++i) sum += (in[0][i] - in[1][i]) * (in[0][i] - in[1][i]);
    y[0] = sum;
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    std::vector<float> difference(static_cast<std::size_t>(in[0].width));
    for (std::int64_t r = 0; r < in.rows; ++r) {
      subtract(in, r, difference);
      out.y[r][0] = difference.size() == 1 ? difference[0] * difference[0] : kernels::squared_norm(difference);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    std::vector<float> difference(static_cast<std::size_t>(saved.in[0].width));
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      subtract(saved.in, r, difference);
      const float slope = 2 * saved.dy[r][0];
      if (grads[0]) grads[0].add_scaled(r, slope, difference.data());
      if (grads[1]) grads[1].add_scaled(r, -slope, difference.data());
    }
  }
  static Samples samples() {
    return {gives<SquaredDistance>({Tensor({3}, {1, 2, 3}), Tensor({3}, {4, -2, 3})}, Tensor({}, {25})),
            gives<SquaredDistance>({Tensor({}, {5}), Tensor({}, {2})}, Tensor({}, {9})),
            works_on<SquaredDistance>({{}, {}}),
            works_on<SquaredDistance>({{1}, {1}}),
            works_on<SquaredDistance>({{7}, {7}}),
            works_on<SquaredDistance>({{133}, {133}}),
            works_on<SquaredDistance>({{3, 5}, {3, 5}})};
  }
  static Refusals refusals() {
    return {
        refuses<SquaredDistance>({{2}, {3}}, "squared_distance: shape of a ([2]) and shape of b ([3]) differ"),
        refuses<SquaredDistance>({{}, {1}}, "squared_distance: shape of a ([]) and shape of b ([1]) differ"),
        refuses<SquaredDistance>({{3}, {1, 3}}, "squared_distance: shape of a ([3]) and shape of b ([1, 3]) differ")};
  }

 private:
  static void subtract(const StepIn& in, std::int64_t r, std::span<float> difference) {
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] = in[0][r][i] - in[1][r][i];
  }
};

}  // namespace ops

/// The sum of the squared differences of two tensors of the same shape.
inline Expr squared_distance(Operand a, Operand b) { return ops::record<ops::SquaredDistance>({a, b}); }

}  // namespace espalier
