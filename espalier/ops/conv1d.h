#pragma once

#include <algorithm>
#include <string>

#include "espalier/kernels/product.h"
#include "espalier/ops/op.h"

namespace espalier {

/// What conv1d sees beyond the ends of its sequence.
enum class Padding : std::int32_t {
  kNone,  // nothing: the result is width - 1 shorter than the sequence
  kSame,  // zeros, (width - 1) / 2 before and width / 2 after: the result is as long as the sequence
};

namespace ops {

/// One product for every place of the filter, over all positions of the sequence: nothing is copied together.
struct Conv1d {
  static constexpr std::string_view kName = "conv1d";
  static constexpr std::string_view kContract =
      "y[t] = sum over w of x[t + w] W[w]   x: [length, channels]   W: [width * channels, m]   ->   "
      "y: [length - width + 1, m], or [length, m] with zeros around";
  static constexpr Kind kKind = Kind::kProduct;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}, Input{"W", Role::kEither}};
  static constexpr Keep kKeep{.inputs = true};
  struct Attrs {
    Padding padding = Padding::kNone;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_rank("x", 2);
    in.require_rank("W", 2);
    const Shape& x = in["x"];
    const std::int32_t rows = in["W"][0];
    in.require(x.elements() > 0, "x " + x.to_string() + " has no elements");
    if (rows == 0 || rows % x[1] != 0)
      in.refuse("rows of W (" + std::to_string(rows) + ") are not the channels of x (" + std::to_string(x[1]) +
                ") times a width");
    const std::int32_t width = rows / x[1];
    if (attrs.padding == Padding::kNone && x[0] < width)
      in.refuse("x " + x.to_string() + " is shorter than the filter, whose width is " + std::to_string(width));
    return {attrs.padding == Padding::kSame ? x[0] : x[0] - width + 1, in["W"][1]};
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const Sizes sizes(attrs, in.shape(0), in.shape(1), in.out);
    for (std::int64_t t = 0; t < sizes.positions; ++t)
      for (std::int64_t j = 0; j < sizes.m; ++j) {
        T sum = 0;
        for (std::int64_t w = 0; w < sizes.width; ++w) {
          const std::int64_t from = t + w - sizes.before;
          if (from < 0 || from >= sizes.length) continue;
          for (std::int64_t c = 0; c < sizes.channels; ++c)
            sum += in[0][static_cast<std::size_t>(from * sizes.channels + c)] *
                   in[1][static_cast<std::size_t>((w * sizes.channels + c) * sizes.m + j)];
        }
        y[static_cast<std::size_t>(t * sizes.m + j)] = sum;
      }
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const Sizes sizes(attrs, in.shape(0), in.shape(1), *in.out);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      kernels::fill(0.0F, {out.y[r], static_cast<std::size_t>(out.y.width)});
      for (std::int64_t w = 0; w < sizes.width; ++w) {
        const Place place(sizes, w);
        kernels::product(place.count, sizes.m, sizes.channels, in[0][r] + place.x, sizes.channels, in[1][r] + place.W,
                         sizes.m, out.y[r] + place.y, sizes.m, true);
      }
    }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    const Sizes sizes(attrs, saved.in.shape(0), saved.in.shape(1), *saved.in.out);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      float* dx = grads[0] ? grads[0].open(r).data() : nullptr;
      float* dW = grads[1] ? grads[1].open(r).data() : nullptr;
      for (std::int64_t w = 0; w < sizes.width; ++w) {
        const Place place(sizes, w);
        const float* dy = saved.dy[r] + place.y;
        if (dx != nullptr)
          kernels::product_transposed_b(place.count, sizes.channels, sizes.m, dy, sizes.m, saved.in[1][r] + place.W,
                                        sizes.m, dx + place.x, sizes.channels, true);
        if (dW != nullptr)
          kernels::product_transposed_a(sizes.channels, sizes.m, place.count, saved.in[0][r] + place.x, sizes.channels,
                                        dy, sizes.m, dW + place.W, sizes.m, true);
      }
    }
  }
  static Samples samples() {
    const Tensor x({3, 2}, {1, 2, 3, 4, 5, 6});
    const Tensor W({4, 1}, {1, 10, 100, 1000});
    const Attrs same{Padding::kSame};
    return {gives<Conv1d>({x, W}, Tensor({2, 1}, {4321, 6543})),
            gives<Conv1d>({x, W}, Tensor({3, 1}, {4321, 6543, 65}), same),
            gives<Conv1d>({Tensor({2, 1}, {1, 2}), Tensor({3, 1}, {1, 10, 100})}, Tensor({2, 1}, {210, 21}), same),
            works_on<Conv1d>({{7, 3}, {6, 5}}),
            works_on<Conv1d>({{1, 1}, {1, 1}}),
            works_on<Conv1d>({{3, 4}, {12, 2}}),
            works_on<Conv1d>({{7, 3}, {9, 5}}, same),
            works_on<Conv1d>({{2, 3}, {15, 4}}, same),
            works_on<Conv1d>({{1, 2}, {8, 1}}, same)};
  }
  static Refusals refusals() {
    return {refuses<Conv1d>({{3}, {3, 4}}, "conv1d: x must have rank 2, and [3] has rank 1"),
            refuses<Conv1d>({{3, 4}, {4}}, "conv1d: W must have rank 2, and [4] has rank 1"),
            refuses<Conv1d>({{5, 3}, {7, 4}}, "conv1d: rows of W (7) are not the channels of x (3) times a width"),
            refuses<Conv1d>({{2, 3}, {9, 4}}, "conv1d: x [2, 3] is shorter than the filter, whose width is 3"),
            refuses<Conv1d>({{0, 3}, {9, 4}}, "conv1d: x [0, 3] has no elements", {Padding::kSame})};
  }

 private:
  struct Sizes {
    std::int64_t length;
    std::int64_t channels;
    std::int64_t width;
    std::int64_t m;
    std::int64_t positions;
    std::int64_t before;  // zeros

    Sizes(const Attrs& attrs, const Shape& x, const Shape& W, const Shape& y)
        : length(x[0]),
          channels(x[1]),
          width(W[0] / channels),
          m(W[1]),
          positions(y[0]),
          before(attrs.padding == Padding::kSame ? (width - 1) / 2 : 0) {}
  };

  /// Where place w of the filter meets the sequence: `count` positions, and where they begin in x, W and y.
  struct Place {
    std::int64_t count;
    std::int64_t x;
    std::int64_t W;
    std::int64_t y;

    Place(const Sizes& sizes, std::int64_t w) {
      const std::int64_t shift = w - sizes.before;
      const std::int64_t begin = std::max<std::int64_t>(0, -shift);
      const std::int64_t end = std::min(sizes.positions, sizes.length - shift);
      count = std::max<std::int64_t>(0, end - begin);
      if (count == 0) {  // only zeros are met
        x = W = y = 0;
        return;
      }
      x = (begin + shift) * sizes.channels;
      W = w * sizes.channels * sizes.m;
      y = begin * sizes.m;
    }
  };
};

}  // namespace ops

/// A filter over every `width` neighbouring vectors of a sequence. W holds width * channels rows: those for the first
/// vector, then those for the second, and so on.
inline Expr conv1d(Operand x, Operand W, Padding padding = Padding::kNone) {
  return ops::record<ops::Conv1d>({x, W}, {padding});
}

}  // namespace espalier
