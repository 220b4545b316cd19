#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "espalier/kernels/math.h"
#include "espalier/ops/last_axis.h"

namespace espalier {
namespace ops {

/// If the result is infinite, the gradient is 0.
struct Logsumexp {
  static constexpr std::string_view kName = "logsumexp";
  static constexpr std::string_view kContract =
      "y = log(sum of e^x[i]), over the last axis   x: [..., n]   ->   y: [...]";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true, .output = true};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    require_last_axis(in);
    return in["x"].without(in["x"].rank() - 1);
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::exp;
    using std::log;
    const Lines lines(in.shape(0));
    for (std::size_t l = 0; l < lines.count; ++l) {
      const std::span<const T> x = lines.line(in[0].data(), l);
      const T most = largest(x);
      const T shift = is_infinite(most) ? T(0) : most;
      T total = 0;
      for (const T& element : x) total += exp(element - shift);
      if (total == T(0))
        y[l] = T(-std::numeric_limits<float>::infinity());
      else if (is_infinite(total))
        y[l] = T(std::numeric_limits<float>::infinity());
      else
        y[l] = shift + log(total);
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const Lines lines(in.shape(0));
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::size_t l = 0; l < lines.count; ++l) out.y[r][l] = kernels::logsumexp(lines.line(in[0][r], l));
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const Lines lines(saved.in.shape(0));
    std::vector<float> slopes(lines.size);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      float* row = grads[0].open(r).data();
      for (std::size_t l = 0; l < lines.count; ++l) {
        const float y = saved.y[r][l];
        if (is_infinite(y)) continue;
        const std::span<const float> x = lines.line(saved.in[0][r], l);
        for (std::size_t i = 0; i < x.size(); ++i) slopes[i] = x[i] - y;
        kernels::exp(slopes, slopes);
        kernels::add_scaled(saved.dy[r][l], slopes, lines.line(row, l));
      }
    }
  }
  static Samples samples() {
    return {gives<Logsumexp>({Tensor({3}, {0, 1, 2})}, Tensor({}, {2.4076059F})),
            gives<Logsumexp>({Tensor({2, 2}, {0, 0, 1000, -1000})}, Tensor({2}, {0.6931472F, 1000})),
            works_on<Logsumexp>({{1}}),
            works_on<Logsumexp>({{5}}),
            works_on<Logsumexp>({{77}}),
            works_on<Logsumexp>({{3, 9}}),
            works_on<Logsumexp>({{2, 1, 3, 5}})};
  }
  static Refusals refusals() {
    return {refuses<Logsumexp>({{}}, "logsumexp: x must have rank 1 or more, and [] has rank 0"),
            refuses<Logsumexp>({{0}}, "logsumexp: the last axis of x [0] has no elements")};
  }

 private:
  template <class T>
  static bool is_infinite(const T& x) {
    const T infinity(std::numeric_limits<float>::infinity());
    return x == infinity || x == -infinity;
  }
};

}  // namespace ops

/// The logarithm of the sum of e^x over the last axis, which is removed.
inline Expr logsumexp(Operand x) { return ops::record<ops::Logsumexp>({x}); }

}  // namespace espalier
