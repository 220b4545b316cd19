#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "espalier/ops/axis.h"

namespace espalier {
namespace ops {

/// Axis a of the result is axis axes[a] of x.
struct TransposeAttrs {
  std::int32_t rank = 2;
  std::array<std::int32_t, kMaxRank> axes{1, 0, 0, 0};  // those from `rank` on are 0
  bool operator==(const TransposeAttrs&) const = default;
};

struct Transpose {
  static constexpr std::string_view kName = "transpose";
  static constexpr std::string_view kContract = "y = x with its axes in another order   x: [i, j]   ->   y: [j, i]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = TransposeAttrs;
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_rank("x", attrs.rank);
    Shape shape = in["x"];
    std::array<bool, kMaxRank> used{};
    for (std::int32_t a = 0; a < attrs.rank; ++a) {
      const std::int32_t from = attrs.axes[static_cast<std::size_t>(a)];
      in.require_axis("x", from);
      if (std::exchange(used[static_cast<std::size_t>(from)], true))
        in.refuse("axis " + std::to_string(from) + " is named twice");
      shape = shape.with(a, in["x"][from]);
    }
    return shape;
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for_each_line(attrs, in.shape(0), [&](std::size_t to, std::size_t from, std::size_t distance, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) y[to + i] = in[0][from + i * distance];
    });
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float* x = in[0][r];
      float* y = out.y[r];
      for_each_line(attrs, in.shape(0), [=](std::size_t to, std::size_t from, std::size_t distance, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) y[to + i] = x[from + i * distance];
      });
    }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      float* dx = grads[0].open(r).data();
      const float* dy = saved.dy[r];
      for_each_line(attrs, saved.in.shape(0),
                    [=](std::size_t to, std::size_t from, std::size_t distance, std::size_t n) {
                      for (std::size_t i = 0; i < n; ++i) dx[from + i * distance] += dy[to + i];
                    });
    }
  }
  static Samples samples() {
    return {gives<Transpose>({Tensor({2, 3}, {1, 2, 3, 4, 5, 6})}, Tensor({3, 2}, {1, 4, 2, 5, 3, 6})),
            gives<Transpose>({Tensor({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, Tensor({3, 2, 1}, {1, 4, 2, 5, 3, 6}),
                             {3, {2, 0, 1}}),
            works_on<Transpose>({{1, 1}}),
            works_on<Transpose>({{7, 5}}),
            works_on<Transpose>({{3}}, {1, {0}}),
            works_on<Transpose>({{}}, {0, {0}}),
            works_on<Transpose>({{2, 3, 4}}, {3, {0, 2, 1}}),
            works_on<Transpose>({{2, 3, 4, 5}}, {4, {3, 1, 0, 2}})};
  }
  static Refusals refusals() {
    return {refuses<Transpose>({{3}}, "transpose: x must have rank 2, and [3] has rank 1"),
            refuses<Transpose>({{2, 3}}, "transpose: x must have rank 3, and [2, 3] has rank 2", {3, {0, 1, 2}}),
            refuses<Transpose>({{2, 3}}, "transpose: axis 2 is outside x [2, 3] (rank 2)", {2, {2, 0}}),
            refuses<Transpose>({{2, 3}}, "transpose: axis 0 is named twice", {2, {0, 0}})};
  }

 private:
  /// Calls f(to, from, distance, n) for every line along the last axis of the result: its n elements lie together at
  /// `to`, and in x from `from` on, `distance` apart.
  template <class F>
  static void for_each_line(const Attrs& attrs, const Shape& shape, const F& f) {
    constexpr std::size_t kRank = kMaxRank;
    std::array<std::size_t, kRank> x_distance{};
    std::size_t elements = 1;
    for (std::int32_t a = shape.rank(); a-- > 0;) {
      x_distance[static_cast<std::size_t>(a)] = elements;
      elements *= static_cast<std::size_t>(shape[a]);
    }
    // The result's axes, behind as many of size 1 as make four.
    std::array<std::size_t, kRank> size{1, 1, 1, 1};
    std::array<std::size_t, kRank> distance{};
    for (std::int32_t a = 0; a < attrs.rank; ++a) {
      const std::int32_t from = attrs.axes[static_cast<std::size_t>(a)];
      const std::int32_t place = kMaxRank - attrs.rank + a;
      const auto at = static_cast<std::size_t>(place);
      size[at] = static_cast<std::size_t>(shape[from]);
      distance[at] = x_distance[static_cast<std::size_t>(from)];
    }
    std::size_t to = 0;
    for (std::size_t i = 0; i < size[0]; ++i)
      for (std::size_t j = 0; j < size[1]; ++j)
        for (std::size_t k = 0; k < size[2]; ++k, to += size[3])
          f(to, i * distance[0] + j * distance[1] + k * distance[2], distance[3], size[3]);
  }
};

}  // namespace ops

/// The transpose of a matrix.
inline Expr transpose(Operand x) { return ops::record<ops::Transpose>({x}); }
/// x with its axes in another order: axis a of the result is axis axes[a] of x. Negative ones count from the last.
inline Expr transpose(Operand x, std::initializer_list<std::int32_t> axes) {
  ops::TransposeAttrs attrs{static_cast<std::int32_t>(axes.size()), {}};
  for (std::size_t a = 0; a < std::min(axes.size(), attrs.axes.size()); ++a)  // more are refused with the rank
    attrs.axes[a] = ops::axis_of<ops::Transpose>(x, axes.begin()[a]);
  return ops::record<ops::Transpose>({x}, attrs);
}

}  // namespace espalier
