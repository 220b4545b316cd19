/// Shared by max and min, over several tensors and over an axis.
///
/// A NaN among the elements is the result. Of equal elements, the first is chosen and gets the gradient.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/ops/axis.h"
#include "espalier/ops/op.h"

namespace espalier::ops {

struct Largest {
  /// Whether `next` takes the place of `best`, which came before it.
  template <class T>
  static bool replaces(const T& next, const T& best) {
    using std::isnan;
    return !(next <= best) && !isnan(best);
  }
  static float over(std::span<const float> x) { return kernels::max(x); }
};

struct Smallest {
  template <class T>
  static bool replaces(const T& next, const T& best) {
    using std::isnan;
    return !(next >= best) && !isnan(best);
  }
  static float over(std::span<const float> x) {
    float best = x[0];
    for (float next : x) best = replaces(next, best) ? next : best;
    return best;
  }
};

namespace extreme {

/// best = the better of best and next, elementwise.
template <class Order>
void keep_better(const float* next, float* best, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) best[i] = Order::replaces(next[i], best[i]) ? next[i] : best[i];
}

/// Gives `rest` to the elements of x that are the result, and takes it away, so that later equal ones get nothing.
inline void hand_over(const float* x, const float* result, float* rest, float* dx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool chosen = x[i] == result[i] || (x[i] != x[i] && result[i] != result[i]);
    dx[i] += chosen ? rest[i] : 0.0F;
    rest[i] = chosen ? 0.0F : rest[i];
  }
}

}  // namespace extreme

/// The elementwise extreme of any number of tensors.
template <class Order>
struct ExtremeOfMany {
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kRagged}};
  static constexpr Keep kKeep{.inputs = true, .output = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      T best = in[0][j];
      for (std::size_t i = 1; i < in.size(); ++i)
        if (Order::replaces(in[i][j], best)) best = in[i][j];
      y[j] = best;
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(out.y.width);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      std::copy_n(in[0][in.offsets[r]], width, out.y[r]);
      for (std::int64_t i = in.offsets[r] + 1; i < in.offsets[r + 1]; ++i)
        extreme::keep_better<Order>(in[0][i], out.y[r], width);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const auto width = static_cast<std::size_t>(saved.dy.width);
    std::vector<float> rest(width);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      std::copy_n(saved.dy[r], width, rest.data());
      for (std::int64_t i = saved.in.offsets[r]; i < saved.in.offsets[r + 1]; ++i)
        extreme::hand_over(saved.in[0][i], saved.y[r], rest.data(), grads[0].open(i).data(), width);
    }
  }
};

/// The extreme along one axis, which goes away.
template <class Order>
struct ExtremeOverAxis {
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true, .output = true};
  using Attrs = AxisAttrs;
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_axis("x", attrs.axis);
    if (in["x"][attrs.axis] == 0)
      in.refuse("axis " + std::to_string(attrs.axis) + " of x " + in["x"].to_string() + " has no elements");
    return in["x"].without(attrs.axis);
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const AxisView view(in.shape(0), attrs.axis);
    for (std::size_t o = 0; o < view.outer; ++o)
      for (std::size_t i = 0; i < view.inner; ++i) {
        T best = in[0][o * view.size * view.inner + i];
        for (std::size_t s = 1; s < view.size; ++s) {
          const T& next = in[0][(o * view.size + s) * view.inner + i];
          if (Order::replaces(next, best)) best = next;
        }
        y[o * view.inner + i] = best;
      }
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const AxisView view(in.shape(0), attrs.axis);
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::size_t o = 0; o < view.outer; ++o) {
        const float* x = in[0][r] + o * view.size * view.inner;
        float* y = out.y[r] + o * view.inner;
        if (view.inner == 1) {
          *y = Order::over({x, view.size});
          continue;
        }
        std::copy_n(x, view.inner, y);
        for (std::size_t s = 1; s < view.size; ++s) extreme::keep_better<Order>(x + s * view.inner, y, view.inner);
      }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const AxisView view(saved.in.shape(0), attrs.axis);
    std::vector<float> rest(view.inner);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      float* dx = grads[0].open(r).data();
      for (std::size_t o = 0; o < view.outer; ++o) {
        std::copy_n(saved.dy[r] + o * view.inner, view.inner, rest.data());
        for (std::size_t s = 0; s < view.size; ++s) {
          const std::size_t at = (o * view.size + s) * view.inner;
          extreme::hand_over(saved.in[0][r] + at, saved.y[r] + o * view.inner, rest.data(), dx + at, view.inner);
        }
      }
    }
  }
};

}  // namespace espalier::ops
