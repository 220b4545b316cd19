#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/ops/extreme.h"
#include "espalier/ops/max_axis.h"

namespace espalier {
namespace ops {

/// Windows do not overlap, and the last may be shorter: any sequence with an element has a result.
struct MaxPool {
  static constexpr std::string_view kName = "max_pool";
  static constexpr std::string_view kContract =
      "y[t] = max of x[t window] to x[t window + window - 1]   x: [length, channels]   ->   "
      "y: [length / window, rounded up, channels]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true, .output = true};
  struct Attrs {
    std::int32_t window = 1;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_rank("x", 2);
    if (attrs.window < 1) in.refuse("the window must be 1 or more, not " + std::to_string(attrs.window));
    const std::int32_t length = in["x"][0];
    if (length == 0) in.refuse("x " + in["x"].to_string() + " has length 0");
    return {(length - 1) / attrs.window + 1, in["x"][1]};
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const auto channels = static_cast<std::size_t>(in.shape(0)[1]);
    const auto length = static_cast<std::size_t>(in.shape(0)[0]);
    const auto window = static_cast<std::size_t>(attrs.window);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t begin = i / channels * window;
      T best = in[0][begin * channels + i % channels];
      for (std::size_t t = begin + 1; t < std::min(begin + window, length); ++t) {
        const T& next = in[0][t * channels + i % channels];
        if (Largest::replaces(next, best)) best = next;
      }
      y[i] = best;
    }
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const auto channels = static_cast<std::size_t>(in.shape(0)[1]);
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::int32_t t = 0; t < in.shape(0)[0]; ++t) {
        const float* x = in[0][r] + static_cast<std::size_t>(t) * channels;
        float* y = out.y[r] + static_cast<std::size_t>(t / attrs.window) * channels;
        if (t % attrs.window == 0)
          std::copy_n(x, channels, y);
        else
          extreme::keep_better<Largest>(x, y, channels);
      }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const auto channels = static_cast<std::size_t>(saved.in.shape(0)[1]);
    std::vector<float> rest(static_cast<std::size_t>(saved.dy.width));
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      std::copy_n(saved.dy[r], rest.size(), rest.data());
      float* dx = grads[0].open(r).data();
      for (std::int32_t t = 0; t < saved.in.shape(0)[0]; ++t) {
        const std::size_t at = static_cast<std::size_t>(t) * channels;
        const std::size_t in_y = static_cast<std::size_t>(t / attrs.window) * channels;
        extreme::hand_over(saved.in[0][r] + at, saved.y[r] + in_y, rest.data() + in_y, dx + at, channels);
      }
    }
  }
  static Samples samples() {
    const Tensor x({5, 2}, {1, 10, 3, -2, 2, 4, 0, 5, -7, -8});
    return {gives<MaxPool>({x}, Tensor({3, 2}, {3, 10, 2, 5, -7, -8}), {2}),
            gives<MaxPool>({x}, Tensor({1, 2}, {3, 10}), {9}),
            works_on<MaxPool>({{1, 1}}, {1}),
            works_on<MaxPool>({{7, 3}}, {3}),
            works_on<MaxPool>({{6, 5}}, {2}),
            works_on<MaxPool>({{4, 9}}, {1})};
  }
  static Refusals refusals() {
    return {refuses<MaxPool>({{3}}, "max_pool: x must have rank 2, and [3] has rank 1", {2}),
            refuses<MaxPool>({{3, 2}}, "max_pool: the window must be 1 or more, not 0", {0}),
            refuses<MaxPool>({{0, 2}}, "max_pool: x [0, 2] has length 0", {2})};
  }
};

}  // namespace ops

/// The largest of each channel of a sequence of any length: [length, channels] -> [channels].
inline Expr max_pool(Operand x) { return max(x, 0); }
/// The largest of each channel in windows of the sequence, one after the other; the last window may be shorter.
inline Expr max_pool(Operand x, std::int32_t window) { return ops::record<ops::MaxPool>({x}, {window}); }

}  // namespace espalier
