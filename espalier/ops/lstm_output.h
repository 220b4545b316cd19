#pragma once

#include "espalier/kernels/lstm.h"
#include "espalier/ops/lstm_memory.h"
#include "espalier/ops/op.h"
#include "espalier/ops/sigmoid.h"

namespace espalier {
namespace ops {

/// The output of an LSTM in one pass. Forward leaves sigmoid(o) and tanh(c).
struct LstmOutput {
  static constexpr std::string_view kName = "lstm_output";
  static constexpr std::string_view kContract = "y = sigmoid(o) tanh(c), elementwise";
  static constexpr Kind kKind = Kind::kReduce;  // what it leaves for backward keeps it from being a map
  static constexpr std::array kInputs{Input{"o", Role::kStacked}, Input{"c", Role::kStacked}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  using Fields = None;

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_same_shape("o", "c");
    return in["o"];
  }
  static std::int64_t saved(const Attrs&, const InputShapes& in) { return 2 * in["o"].elements(); }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::tanh;
    for (std::size_t j = 0; j < y.size(); ++j) y[j] = Sigmoid::value<T>({}, {}, in[0][j]) * tanh(in[1][j]);
  }
  static std::uint32_t overwrites(std::size_t) { return 1; }
  static std::int64_t saved_in_place(const Attrs&, const InputShapes& in) { return in["o"].elements(); }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const std::int64_t n = out.y.width;
    const bool leaves = out.saved.data != nullptr;
    for (std::int64_t r = 0; r < in.rows; ++r) {
      float* const saved = leaves ? out.saved[r] : nullptr;
      float* const opened = out.in_place ? const_cast<float*>(in[0][r]) : saved;
      kernels::lstm_output(n, in[0][r], in[1][r], out.y[r], opened, leaves && !out.in_place ? saved + n : saved);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const std::int64_t n = saved.dy.width;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* const opened = saved.in_place ? saved.in[0][r] : saved.saved[r];
      const float* const memory = saved.in_place ? saved.saved[r] : saved.saved[r] + n;
      kernels::lstm_output_gradient(n, opened, memory, saved.dy[r], target_of(grads[0], r), target_of(grads[1], r));
    }
  }
  static Samples samples() {
    return {gives<LstmOutput>({Tensor({2}, {0, 1}), Tensor({2}, {1, 0})}, Tensor({2}, {0.380797F, 0})),
            works_on<LstmOutput>({{7}, {7}}), works_on<LstmOutput>({{2, 9}, {2, 9}}), works_on<LstmOutput>({{}, {}})};
  }
  static Refusals refusals() {
    return {refuses<LstmOutput>({{3}, {4}}, "lstm_output: shape of o ([3]) and shape of c ([4]) differ")};
  }
};

}  // namespace ops

/// sigmoid(o) tanh(c) of every two elements.
inline Expr lstm_output(Operand o, Operand c) { return ops::record<ops::LstmOutput>({o, c}); }

}  // namespace espalier
