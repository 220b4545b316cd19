#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// Ba, Kiros, Hinton, "Layer Normalization" (2016). Forward leaves mean and 1 / deviation.
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  static constexpr std::string_view kContract =
      "y = gain (x - mean(x)) / sqrt(variance(x) + epsilon) + bias   x, gain, bias: [n]   ->   y: [n]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}, Input{"gain", Role::kEither},
                                      Input{"bias", Role::kEither}};
  static constexpr Keep kKeep{.only = {"x", "gain"}};
  struct Attrs {
    float epsilon = 1e-5F;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_rank("x", 1);
    in.require(in["x"][0] > 0, "x [0] has no elements");
    in.require_same_shape("x", "gain");
    in.require_same_shape("x", "bias");
    if (!(attrs.epsilon >= 0)) in.refuse("epsilon must be 0 or more, not " + std::to_string(attrs.epsilon));
    return in["x"];
  }
  static std::int64_t saved(const Attrs&, const InputShapes&) { return 2; }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::sqrt;
    const T size = static_cast<T>(static_cast<double>(y.size()));
    T mean = 0;
    for (const T& x : in[0]) mean += x;
    mean /= size;
    T variance = 0;
    for (const T& x : in[0]) variance += (x - mean) * (x - mean);
    variance /= size;
    const T deviation = sqrt(variance + T(attrs.epsilon));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[1][i] * ((in[0][i] - mean) / deviation) + in[2][i];
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(out.y.width);
    std::vector<float> centred(width);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float mean = kernels::sum({in[0][r], width}) / static_cast<float>(width);
      for (std::size_t i = 0; i < width; ++i) centred[i] = in[0][r][i] - mean;
      const float variance = kernels::squared_norm(centred) / static_cast<float>(width);
      const float factor = 1.0F / std::sqrt(variance + attrs.epsilon);
      kernels::scale(factor, centred);
      kernels::copy({in[2][r], width}, {out.y[r], width});
      kernels::multiply_add({in[1][r], width}, centred, {out.y[r], width});
      out.saved[r][0] = mean;
      out.saved[r][1] = factor;
    }
  }
  // With h = (x - mean) factor and dh = gain dy: dx = factor (dh - mean(dh) - h mean(h dh)).
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const auto width = static_cast<std::size_t>(saved.dy.width);
    std::vector<float> h(width);
    std::vector<float> dh(width);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* dy = saved.dy[r];
      const float mean = saved.saved[r][0];
      const float factor = saved.saved[r][1];
      for (std::size_t i = 0; i < width; ++i) h[i] = (saved.in[0][r][i] - mean) * factor;
      if (grads[0]) {
        for (std::size_t i = 0; i < width; ++i) dh[i] = saved.in[1][r][i] * dy[i];
        const float mean_dh = kernels::sum(dh) / static_cast<float>(width);
        const float mean_h_dh = kernels::dot(h, dh) / static_cast<float>(width);
        for (std::size_t i = 0; i < width; ++i) dh[i] = dh[i] - mean_dh - h[i] * mean_h_dh;
        grads[0].add_scaled(r, factor, dh.data());
      }
      if (grads[1]) kernels::multiply_add({dy, width}, h, grads[1].open(r));
      if (grads[2]) grads[2].add(r, dy);
    }
  }
  static Samples samples() {
    // mean 3, variance 4
    const std::initializer_list<Tensor> inputs{Tensor({2}, {1, 5}), Tensor({2}, {2, 3}), Tensor({2}, {0, 0.5F})};
    return {gives<LayerNorm>(inputs, Tensor({2}, {-2, 3.5F}), {0}),
            gives<LayerNorm>(inputs, Tensor({2}, {-1.6F, 2.9F}), {2.25F}),  // sqrt(4 + 2.25) = 2.5
            works_on<LayerNorm>({{1}, {1}, {1}}),
            works_on<LayerNorm>({{2}, {2}, {2}}),
            works_on<LayerNorm>({{9}, {9}, {9}}),
            works_on<LayerNorm>({{130}, {130}, {130}}),
            works_on<LayerNorm>({{5}, {5}, {5}}, {0.25F})};
  }
  static Refusals refusals() {
    return {refuses<LayerNorm>({{2, 3}, {3}, {3}}, "layer_norm: x must have rank 1, and [2, 3] has rank 2"),
            refuses<LayerNorm>({{3}, {2}, {3}}, "layer_norm: shape of x ([3]) and shape of gain ([2]) differ"),
            refuses<LayerNorm>({{3}, {3}, {}}, "layer_norm: shape of x ([3]) and shape of bias ([]) differ"),
            refuses<LayerNorm>({{0}, {0}, {0}}, "layer_norm: x [0] has no elements"),
            refuses<LayerNorm>({{3}, {3}, {3}}, "layer_norm: epsilon must be 0 or more, not -1.000000", {-1})};
  }
};

}  // namespace ops

/// x with mean 0 and variance 1, then times gain plus bias, elementwise.
inline Expr layer_norm(Operand x, Operand gain, Operand bias, float epsilon = 1e-5F) {
  return ops::record<ops::LayerNorm>({x, gain, bias}, {epsilon});
}

}  // namespace espalier
