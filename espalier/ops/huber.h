#pragma once

#include <cmath>
#include <limits>

#include "espalier/ops/number_text.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Huber {
  static constexpr std::string_view kName = "huber";
  static constexpr std::string_view kContract =
      "y = mean of d^2 / 2 if |d| <= delta, else delta (|d| - delta / 2), d = x - target   "
      "x: [any shape]   target: as x   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}, Input{"target", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  struct Attrs {
    double delta = 1;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_same_shape("x", "target");
    if (in["x"].elements() == 0) in.refuse("x is " + in["x"].to_string() + "; a mean needs at least one element");
    if (!(attrs.delta > 0) || !std::isfinite(attrs.delta))
      in.refuse("delta must be finite and above 0, and it is " + number_text(attrs.delta));
    return {};
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const T delta = static_cast<T>(attrs.delta);
    T sum = T(0);
    for (std::size_t i = 0; i < in[0].size(); ++i) sum += penalty(in[0][i] - in[1][i], delta);
    y[0] = sum / static_cast<T>(static_cast<double>(in[0].size()));
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const std::int64_t width = in[0].width;
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float* x = in[0][r];
      const float* target = in[1][r];
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) sum += penalty(double{x[i]} - double{target[i]}, attrs.delta);
      out.y[r][0] = static_cast<float>(sum / static_cast<double>(width));
    }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    const auto delta = static_cast<float>(attrs.delta);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* x = saved.in[0][r];
      const float* target = saved.in[1][r];
      const float factor = saved.dy[r][0] / static_cast<float>(saved.in[0].width);
      if (grads[0]) {
        const std::span<float> dx = grads[0].open(r);
        for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += factor * slope(x[i] - target[i], delta);
      }
      if (grads[1]) {
        const std::span<float> dtarget = grads[1].open(r);
        for (std::size_t i = 0; i < dtarget.size(); ++i) dtarget[i] -= factor * slope(x[i] - target[i], delta);
      }
    }
  }
  static Samples samples() {
    return {gives<Huber>({Tensor({4}, {1, 5, 0, 2}), Tensor({4}, {4, 4, 0.5F, 2})}, Tensor({}, {1}), {1.5}),
            works_on<Huber>({{7}, {7}}), works_on<Huber>({{}, {}}), works_on<Huber>({{3, 5}, {3, 5}}, {0.3})};
  }
  static Refusals refusals() {
    return {refuses<Huber>({{3}, {4}}, "huber: shape of x ([3]) and shape of target ([4]) differ"),
            refuses<Huber>({{2, 0}, {2, 0}}, "huber: x is [2, 0]; a mean needs at least one element"),
            refuses<Huber>({{3}, {3}}, "huber: delta must be finite and above 0, and it is 0", {0}),
            refuses<Huber>({{3}, {3}}, "huber: delta must be finite and above 0, and it is inf",
                           {std::numeric_limits<double>::infinity()})};
  }

 private:
  template <class T>
  static T penalty(const T& d, const T& delta) {
    if (d > delta) return delta * (d - T(0.5) * delta);
    if (d < -delta) return delta * (-d - T(0.5) * delta);
    return T(0.5) * d * d;
  }
  static float slope(float d, float delta) { return d > delta ? delta : d < -delta ? -delta : d; }
};

}  // namespace ops

/// The mean, over the elements, of Huber's penalty: squared near the target, linear further away than `delta`.
inline Expr huber(Operand x, Operand target, double delta = 1) { return ops::record<ops::Huber>({x, target}, {delta}); }

}  // namespace espalier
