#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Mse {
  static constexpr std::string_view kName = "mse";
  static constexpr std::string_view kContract =
      "y = mean of (x - target)^2   x: [any shape]   target: as x   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}, Input{"target", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_same_shape("x", "target");
    if (in["x"].elements() == 0) in.refuse("x is " + in["x"].to_string() + "; a mean needs at least one element");
    return {};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    T sum = T(0);
    for (std::size_t i = 0; i < in[0].size(); ++i) sum += (in[0][i] - in[1][i]) * (in[0][i] - in[1][i]);
    y[0] = sum / static_cast<T>(static_cast<double>(in[0].size()));
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const std::int64_t width = in[0].width;
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float* x = in[0][r];
      const float* target = in[1][r];
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        const double difference = double{x[i]} - double{target[i]};
        sum += difference * difference;
      }
      out.y[r][0] = static_cast<float>(sum / static_cast<double>(width));
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* x = saved.in[0][r];
      const float* target = saved.in[1][r];
      const float factor = 2 * saved.dy[r][0] / static_cast<float>(saved.in[0].width);
      if (grads[0]) {
        const std::span<float> dx = grads[0].open(r);
        for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += factor * (x[i] - target[i]);
      }
      if (grads[1]) {
        const std::span<float> dtarget = grads[1].open(r);
        for (std::size_t i = 0; i < dtarget.size(); ++i) dtarget[i] -= factor * (x[i] - target[i]);
      }
    }
  }
  static Samples samples() {
    return {gives<Mse>({Tensor({2}, {1, 5}), Tensor({2}, {4, 4})}, Tensor({}, {5})), works_on<Mse>({{7}, {7}}),
            works_on<Mse>({{}, {}}), works_on<Mse>({{3, 5}, {3, 5}})};
  }
  static Refusals refusals() {
    return {refuses<Mse>({{3}, {4}}, "mse: shape of x ([3]) and shape of target ([4]) differ"),
            refuses<Mse>({{0}, {0}}, "mse: x is [0]; a mean needs at least one element")};
  }
};

}  // namespace ops

/// The mean, over the elements, of the squared differences of x and target.
inline Expr mse(Operand x, Operand target) { return ops::record<ops::Mse>({x, target}); }

}  // namespace espalier
