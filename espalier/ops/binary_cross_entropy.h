#pragma once

#include <algorithm>
#include <cmath>

#include "espalier/kernels/math.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct BinaryCrossEntropy {
  static constexpr std::string_view kName = "binary_cross_entropy";
  static constexpr std::string_view kContract =
      "y = mean of -t log(p) - (1 - t) log(1 - p), p = sigmoid(x)   x: [any shape]   t: as x   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}, Input{"t", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_same_shape("x", "t");
    if (in["x"].elements() == 0) in.refuse("x is " + in["x"].to_string() + "; a mean needs at least one element");
    return {};
  }
  /// An element is log(1 + e^x) - t x, written so that neither e^x overflows nor the loss of a sure and right answer
  /// drowns in rounding: log(1 + e^-|x|) plus (1 - t) x for x > 0, -t x else.
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::exp;
    using std::log1p;
    T sum = T(0);
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      const T x = in[0][i];
      const T t = in[1][i];
      if (x > T(0))
        sum += (T(1) - t) * x + log1p(exp(-x));
      else
        sum += log1p(exp(x)) - t * x;
    }
    y[0] = sum / static_cast<T>(static_cast<double>(in[0].size()));
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const std::int64_t width = in[0].width;
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float* x = in[0][r];
      const float* t = in[1][r];
      double sum = 0;
      for_tiles(x, width, [&](std::int64_t begin, std::span<float> tile) {
        kernels::softplus(tile, tile);
        for (std::size_t i = 0; i < tile.size(); ++i) {
          const float logit = x[begin + static_cast<std::int64_t>(i)];
          const float target = t[begin + static_cast<std::int64_t>(i)];
          sum += double{tile[i]} + double{(logit > 0 ? 1 - target : -target) * logit};
        }
      });
      out.y[r][0] = static_cast<float>(sum / static_cast<double>(width));
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const std::int64_t width = saved.in[0].width;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* x = saved.in[0][r];
      const float* t = saved.in[1][r];
      const float factor = saved.dy[r][0] / static_cast<float>(width);
      if (grads[0]) {
        const std::span<float> dx = grads[0].open(r);
        for_tiles(x, width, [&](std::int64_t begin, std::span<float> tile) {
          kernels::sigmoid(tile, tile);
          for (std::size_t i = 0; i < tile.size(); ++i) {
            const std::size_t at = static_cast<std::size_t>(begin) + i;
            dx[at] += factor * (x[at] > 0 ? (1 - t[at]) - tile[i] : tile[i] - t[at]);
          }
        });
      }
      if (grads[1]) grads[1].add_scaled(r, -factor, x);
    }
  }
  static Samples samples() {
    return {gives<BinaryCrossEntropy>({Tensor({2}, {1, -2}), Tensor({2}, {0, 1})}, Tensor({}, {1.7200948F})),
            gives<BinaryCrossEntropy>({Tensor({2}, {0, 0}), Tensor({2}, {0.25F, 1})}, Tensor({}, {0.69314718F})),
            works_on<BinaryCrossEntropy>({{7}, {7}}),
            works_on<BinaryCrossEntropy>({{}, {}}),
            works_on<BinaryCrossEntropy>({{3, 5}, {3, 5}}),
            works_on<BinaryCrossEntropy>({{300}, {300}})};
  }
  static Refusals refusals() {
    return {
        refuses<BinaryCrossEntropy>({{3}, {4}}, "binary_cross_entropy: shape of x ([3]) and shape of t ([4]) differ"),
        refuses<BinaryCrossEntropy>({{0}, {0}}, "binary_cross_entropy: x is [0]; a mean needs at least one element")};
  }

 private:
  /// Calls f(begin, tile) for every piece of x, where tile holds -|x|.
  template <class F>
  static void for_tiles(const float* x, std::int64_t width, const F& f) {
    constexpr std::int64_t kTile = 256;
    std::array<float, kTile> buffer;
    for (std::int64_t begin = 0; begin < width; begin += kTile) {
      const auto size = static_cast<std::size_t>(std::min(kTile, width - begin));
      for (std::size_t i = 0; i < size; ++i) buffer[i] = -std::fabs(x[begin + static_cast<std::int64_t>(i)]);
      f(begin, std::span<float>(buffer.data(), size));
    }
  }
};

}  // namespace ops

/// The mean, over the elements, of the binary cross-entropy of targets t, between 0 and 1, and logits x.
inline Expr binary_cross_entropy(Operand x, Operand t) { return ops::record<ops::BinaryCrossEntropy>({x, t}); }
/// The same with one target for all elements.
inline Expr binary_cross_entropy(Operand x, double t) {
  Graph& graph = find_graph(ops::info_of<ops::BinaryCrossEntropy>(), std::span<const Operand>(&x, 1));
  const SourceLine where = x.where();
  return binary_cross_entropy(x,
                              x.at(graph.input(Tensor::filled(x.shape(), t, x.dtype()), where.file(), where.line())));
}

}  // namespace espalier
