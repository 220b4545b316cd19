#pragma once

#include <cmath>

#include "espalier/ops/along_axis.h"
#include "espalier/ops/last_axis.h"

namespace espalier {
namespace ops {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
  static constexpr std::string_view kContract = "y[i] = e^x[i] / sum of e^x[j], over the last axis   x: [..., n]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.output = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    require_last_axis(in);
    return in["x"];
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::exp;
    const Lines lines(in.shape(0));
    for (std::size_t l = 0; l < lines.count; ++l) {
      const std::span<const T> x = lines.line(in[0].data(), l);
      const T most = largest(x);
      T total = 0;
      for (const T& element : x) total += exp(element - most);
      for (std::size_t i = 0; i < x.size(); ++i) y[l * lines.size + i] = exp(x[i] - most) / total;
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const Lines lines(in.shape(0));
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::size_t l = 0; l < lines.count; ++l) kernels::softmax(lines.line(in[0][r], l), lines.line(out.y[r], l));
  }
  // dx = y (dy - y . dy)
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const Lines lines(saved.in.shape(0));
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      float* row = grads[0].open(r).data();
      for (std::size_t l = 0; l < lines.count; ++l) {
        const std::span<const float> y = lines.line(saved.y[r], l);
        const std::span<const float> dy = lines.line(saved.dy[r], l);
        kernels::multiply_add(y, dy, lines.line(row, l));
        kernels::add_scaled(-kernels::dot(y, dy), y, lines.line(row, l));
      }
    }
  }
  static Samples samples() {
    return {gives<Softmax>({Tensor({3}, {0, 1, 2})}, Tensor({3}, {0.09003057F, 0.24472847F, 0.66524096F})),
            gives<Softmax>({Tensor({2, 2}, {5, 5, 1000, -1000})}, Tensor({2, 2}, {0.5F, 0.5F, 1, 0})),
            works_on<Softmax>({{1}}),
            works_on<Softmax>({{5}}),
            works_on<Softmax>({{77}}),
            works_on<Softmax>({{3, 9}}),
            works_on<Softmax>({{2, 1, 3, 5}})};
  }
  static Refusals refusals() {
    return {refuses<Softmax>({{}}, "softmax: x must have rank 1 or more, and [] has rank 0"),
            refuses<Softmax>({{2, 0}}, "softmax: the last axis of x [2, 0] has no elements")};
  }
};

}  // namespace ops

/// Probabilities over the last axis: e^x divided by its sum.
inline Expr softmax(Operand x) { return ops::record<ops::Softmax>({x}); }
/// Probabilities along any axis; a negative axis counts from the last.
inline Expr softmax(Operand x, std::int32_t axis) {
  return ops::along_axis<ops::Softmax>(x, axis, [](const Operand& y) { return softmax(y); });
}

}  // namespace espalier
