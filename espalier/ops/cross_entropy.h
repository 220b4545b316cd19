#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "espalier/kernels/math.h"
#include "espalier/ops/last_axis.h"

namespace espalier {
namespace ops {

/// The label is a field: nodes with different labels run together. Forward leaves log_softmax(x).
struct CrossEntropy {
  static constexpr std::string_view kName = "cross_entropy";
  static constexpr std::string_view kContract = "y = -log(softmax(x)[label])   x: [n]   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  struct Fields {
    std::int32_t label = 0;
  };

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank("x", 1);
    in.require(in["x"][0] > 0, "x [0] has no elements");
    return {};
  }
  static std::int32_t choices(const Attrs&, const InputShapes& in) { return in["x"][0]; }
  static void check(const Attrs&, const Fields& fields, const InputShapes& in) {
    const std::int32_t classes = in["x"][0];
    if (fields.label < 0 || fields.label >= classes)
      in.refuse("label " + std::to_string(fields.label) + " is outside x " + in["x"].to_string() + " (labels 0 to " +
                std::to_string(classes - 1) + ")");
  }
  static std::int64_t saved(const Attrs&, const InputShapes& in) { return in["x"][0]; }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    using std::exp;
    using std::log;
    const T most = largest(in[0]);
    T total = 0;
    for (const T& x : in[0]) total += exp(x - most);
    y[0] = (most - in[0][static_cast<std::size_t>(fields.label)]) + log(total);
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(in[0].width);
    for_blocks(in.rows, in[0].width, [&](std::int64_t begin, std::int64_t end) {
      if (in[0].width > kFewClasses)
        kernels::log_softmax({in[0][begin], width}, {out.saved[begin], width});
      else
        log_softmax_rows(in[0], begin, end, out.saved);
      for (std::int64_t r = begin; r < end; ++r) out.y[r][0] = -out.saved[r][in.fields<Fields>(r).label];
    });
  }
  // dx = dy (softmax(x) - 1 at the label)
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const std::int64_t width = saved.saved.width;
    thread_local std::vector<float> slopes;
    thread_local std::vector<float> of_labels;
    for_blocks(saved.in.rows, width, [&](std::int64_t begin, std::int64_t end) {
      exp_of_rows(saved.saved, begin, end, slopes);
      of_labels.resize(static_cast<std::size_t>(end - begin));
      for (std::int64_t r = begin; r < end; ++r)
        of_labels[static_cast<std::size_t>(r - begin)] = saved.saved[r][saved.in.fields<Fields>(r).label];
      // Near probability 1 the difference is all rounding; expm1 keeps it exact.
      kernels::expm1(of_labels, of_labels);
      for (std::int64_t r = begin; r < end; ++r) {
        float* const slope = slopes.data() + (r - begin) * width;
        slope[saved.in.fields<Fields>(r).label] = of_labels[static_cast<std::size_t>(r - begin)];
        grads[0].add_scaled(r, saved.dy[r][0], slope);
      }
    });
  }
  static Samples samples() {
    return {gives<CrossEntropy>({Tensor({3}, {0, 1, 2})}, Tensor({}, {1.4076059F}), {}, {1}),
            gives<CrossEntropy>({Tensor({2}, {-1000, 1000})}, Tensor({}, {2000}), {}, {0}),
            works_on<CrossEntropy>({{1}}, {}, {0}), works_on<CrossEntropy>({{5}}, {}, {4}),
            works_on<CrossEntropy>({{77}}, {}, {13})};
  }
  static Refusals refusals() {
    return {refuses<CrossEntropy>({{3}}, "cross_entropy: label 3 is outside x [3] (labels 0 to 2)", {}, {3}),
            refuses<CrossEntropy>({{3}}, "cross_entropy: label -1 is outside x [3] (labels 0 to 2)", {}, {-1}),
            refuses<CrossEntropy>({{3, 3}}, "cross_entropy: x must have rank 1, and [3, 3] has rank 2"),
            refuses<CrossEntropy>({{0}}, "cross_entropy: x [0] has no elements")};
  }

 private:
  static constexpr std::int64_t kFewClasses = 256;

  /// Calls f(begin, end) for blocks of rows: of few classes many at a time, since a call costs more than they do. Which
  /// way a row goes depends on its width alone, and so do its bits.
  template <class F>
  static void for_blocks(std::int64_t rows, std::int64_t width, const F& f) {
    constexpr std::int64_t kElements = 1024;
    const std::int64_t most = width > kFewClasses ? 1 : kElements / width;
    for (std::int64_t begin = 0; begin < rows; begin += most) f(begin, std::min(rows, begin + most));
  }
  /// e^x of rows begin to end - 1, side by side in `powers`.
  static void exp_of_rows(const ConstRows& x, std::int64_t begin, std::int64_t end, std::vector<float>& powers) {
    const auto width = static_cast<std::size_t>(x.width);
    powers.resize(static_cast<std::size_t>(end - begin) * width);
    if (x.dense()) {
      kernels::exp({x[begin], powers.size()}, powers);
      return;
    }
    for (std::int64_t r = begin; r < end; ++r)
      kernels::copy({x[r], width}, {powers.data() + static_cast<std::size_t>(r - begin) * width, width});
    kernels::exp(powers, powers);
  }
  static void log_softmax_rows(const ConstRows& x, std::int64_t begin, std::int64_t end, const Rows& y) {
    thread_local std::vector<float> powers;
    thread_local std::vector<float> sums;
    const std::int64_t width = x.width;
    sums.resize(static_cast<std::size_t>(end - begin));
    for (std::int64_t r = begin; r < end; ++r) {
      const float most = largest(std::span<const float>(x[r], static_cast<std::size_t>(width)));
      for (std::int64_t k = 0; k < width; ++k) y[r][k] = x[r][k] - most;
    }
    exp_of_rows(y, begin, end, powers);
    for (std::int64_t r = 0; r < end - begin; ++r) {
      float sum = 0;
      for (std::int64_t k = 0; k < width; ++k) sum += powers[static_cast<std::size_t>(r * width + k)];
      sums[static_cast<std::size_t>(r)] = sum;
    }
    kernels::log(sums, sums);
    for (std::int64_t r = begin; r < end; ++r)
      for (std::int64_t k = 0; k < width; ++k) y[r][k] -= sums[static_cast<std::size_t>(r - begin)];
  }
};

}  // namespace ops

/// How surprising `label` is to softmax(x), in nats: -log of its probability. x has one number a class.
inline Expr cross_entropy(Operand x, std::int32_t label) { return ops::record<ops::CrossEntropy>({x}, {}, {label}); }
/// The same of many rows, each with a label of its own.
inline Expr cross_entropy_each(Operand x, std::span<const std::int32_t> labels) {
  const OpInfo& info = ops::info_of<ops::CrossEntropy>();
  const std::span<const Operand> list(&x, 1);
  return graph_of(info, list).record_rows(info, nullptr, labels.data(), static_cast<std::int32_t>(labels.size()), list);
}

}  // namespace espalier
