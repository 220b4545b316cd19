#pragma once

#include <cmath>
#include <vector>

#include "espalier/kernels/math.h"
#include "espalier/ops/along_axis.h"
#include "espalier/ops/last_axis.h"

namespace espalier {
namespace ops {

struct LogSoftmax {
  static constexpr std::string_view kName = "log_softmax";
  static constexpr std::string_view kContract = "y[i] = x[i] - log(sum of e^x[j]), over the last axis   x: [..., n]";
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
    using std::log;
    const Lines lines(in.shape(0));
    for (std::size_t l = 0; l < lines.count; ++l) {
      const std::span<const T> x = lines.line(in[0].data(), l);
      const T most = largest(x);
      T total = 0;
      for (const T& element : x) total += exp(element - most);
      for (std::size_t i = 0; i < x.size(); ++i) y[l * lines.size + i] = (x[i] - most) - log(total);
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const Lines lines(in.shape(0));
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::size_t l = 0; l < lines.count; ++l)
        kernels::log_softmax(lines.line(in[0][r], l), lines.line(out.y[r], l));
  }
  // dx = dy - e^y (sum of dy)
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const Lines lines(saved.in.shape(0));
    std::vector<float> probabilities(lines.size);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      float* row = grads[0].open(r).data();
      for (std::size_t l = 0; l < lines.count; ++l) {
        const std::span<const float> dy = lines.line(saved.dy[r], l);
        kernels::exp(lines.line(saved.y[r], l), probabilities);
        kernels::add(dy, lines.line(row, l));
        kernels::add_scaled(-kernels::sum(dy), probabilities, lines.line(row, l));
      }
    }
  }
  static Samples samples() {
    return {
        gives<LogSoftmax>({Tensor({3}, {0, 1, 2})}, Tensor({3}, {-2.4076059F, -1.4076059F, -0.40760596F})),
        gives<LogSoftmax>({Tensor({2, 2}, {5, 5, 1000, -1000})}, Tensor({2, 2}, {-0.6931472F, -0.6931472F, 0, -2000})),
        works_on<LogSoftmax>({{1}}),
        works_on<LogSoftmax>({{5}}),
        works_on<LogSoftmax>({{77}}),
        works_on<LogSoftmax>({{3, 9}}),
        works_on<LogSoftmax>({{2, 1, 3, 5}})};
  }
  static Refusals refusals() {
    return {refuses<LogSoftmax>({{}}, "log_softmax: x must have rank 1 or more, and [] has rank 0"),
            refuses<LogSoftmax>({{2, 0}}, "log_softmax: the last axis of x [2, 0] has no elements")};
  }
};

}  // namespace ops

/// The logarithm of softmax(x); accurate even where softmax(x) underflows to 0.
inline Expr log_softmax(Operand x) { return ops::record<ops::LogSoftmax>({x}); }
/// The same along any axis; a negative axis counts from the last.
inline Expr log_softmax(Operand x, std::int32_t axis) {
  return ops::along_axis<ops::LogSoftmax>(x, axis, [](const Operand& y) { return log_softmax(y); });
}

}  // namespace espalier
