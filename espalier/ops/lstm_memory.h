#pragma once

#include <array>
#include <string>
#include <vector>

#include "espalier/kernels/lstm.h"
#include "espalier/ops/op.h"
#include "espalier/ops/sigmoid.h"

namespace espalier {
namespace ops {

inline kernels::GradientTarget target_of(const GradRows& grads, std::int64_t r) {
  return grads ? kernels::GradientTarget{grads.rows()[r], grads.stores()} : kernels::GradientTarget{};
}

/// The memory of an LSTM in one pass: gates are opened, and what they let through is added up. Forward leaves the open
/// gates. x is i, u, f_1, c_1, f_2, c_2, ...
struct LstmMemory {
  static constexpr std::string_view kName = "lstm_memory";
  static constexpr std::string_view kContract =
      "y = sigmoid(i) tanh(u) + sum of sigmoid(f_k) c_k   x: i, u, f_1, c_1, ..., all of one shape";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kMany}};
  static constexpr Keep kKeep{};
  using Attrs = None;
  using Fields = None;

  static bool keeps_operand(std::size_t position) { return position >= 3 && position % 2 == 1; }  // c_1, c_2, ...

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require(in.size() >= 2 && in.size() % 2 == 0,
               "needs i and u, then f and c of every child, and " + std::to_string(in.size()) + " operands are given");
    for (std::size_t k = 1; k < in.size(); ++k)
      if (in[k] != in[0])
        in.refuse("x[0] is " + in[0].to_string() + " and x[" + std::to_string(k) + "] is " + in[k].to_string() +
                  "; all must be equal");
    return in[0];
  }
  static std::int64_t saved(const Attrs&, const InputShapes& in) {
    return in[0].elements() * (2 + children(in.size()));
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    using std::tanh;
    const auto open = [](const T& x) { return Sigmoid::value<T>({}, {}, x); };
    for (std::size_t j = 0; j < y.size(); ++j) {
      y[j] = open(in[0][j]) * tanh(in[1][j]);
      for (std::size_t k = 2; k < in.size(); k += 2) y[j] += open(in[k][j]) * in[k + 1][j];
    }
  }
  /// The gates: i, u, f_1, f_2, ...
  static std::uint32_t overwrites(std::size_t operands) {
    std::uint32_t mask = 0;
    for (std::size_t k = 0; k < operands; ++k) mask |= keeps_operand(k) ? 0 : 1U << k;
    return mask;
  }
  static std::int64_t saved_in_place(const Attrs&, const InputShapes&) { return 0; }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const std::size_t count = in.size();
    Pointers<const float*> x(count);
    Pointers<float*> opened(count / 2 + 1);
    const bool leaves = out.in_place || out.saved.data != nullptr;
    for (std::int64_t r = 0; r < in.rows; ++r) {
      for (std::size_t k = 0; k < count; ++k) x[k] = in[k][r];
      for (std::size_t k = 0; k < count / 2 + 1 && leaves; ++k)
        opened[k] =
            out.in_place ? const_cast<float*>(x[gate(k)]) : out.saved[r] + static_cast<std::int64_t>(k) * out.y.width;
      kernels::lstm_memory(out.y.width, children(count), x.data(), out.y[r], leaves ? opened.data() : nullptr);
    }
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    const std::size_t count = saved.in.size();
    Pointers<const float*> x(count);
    Pointers<const float*> opened(count / 2 + 1);
    Pointers<kernels::GradientTarget> targets(count);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      for (std::size_t k = 0; k < count; ++k) {
        x[k] = saved.in[k][r];
        targets[k] = target_of(grads[k], r);
      }
      for (std::size_t k = 0; k < count / 2 + 1; ++k)
        opened[k] = saved.in_place ? x[gate(k)] : saved.saved[r] + static_cast<std::int64_t>(k) * saved.dy.width;
      kernels::lstm_memory_gradient(saved.dy.width, children(count), x.data(), opened.data(), saved.dy[r],
                                    targets.data());
    }
  }
  static Samples samples() {
    const Tensor zero({1}, {0});
    return {gives<LstmMemory>({zero, Tensor({1}, {1})}, Tensor({1}, {0.380797F})),
            gives<LstmMemory>({zero, zero, Tensor({1}, {1}), Tensor({1}, {2})}, Tensor({1}, {1.462117F})),
            works_on<LstmMemory>({{7}, {7}}),
            works_on<LstmMemory>({{19}, {19}, {19}, {19}, {19}, {19}}),
            works_on<LstmMemory>({{2, 3}, {2, 3}, {2, 3}, {2, 3}}),
            works_on<LstmMemory>({{5}, {5}, {5}, {5}, {5}, {5}, {5}, {5}})};
  }
  static Refusals refusals() {
    return {refuses<LstmMemory>({}, "lstm_memory: needs at least one operand"),
            refuses<LstmMemory>({{3}, {3}, {3}},
                                "lstm_memory: needs i and u, then f and c of every child, and 3 operands are given"),
            refuses<LstmMemory>({{3}, {4}}, "lstm_memory: x[0] is [3] and x[1] is [4]; all must be equal")};
  }

 private:
  /// One for each operand: most cells have few.
  template <class T>
  class Pointers {
   public:
    explicit Pointers(std::size_t count) : many_(count > few_.size() ? count : 0) {}
    T* data() { return many_.empty() ? few_.data() : many_.data(); }
    T& operator[](std::size_t i) { return data()[i]; }

   private:
    std::array<T, 8> few_{};
    std::vector<T> many_;
  };
  /// The operand that is opened as number k.
  static std::size_t gate(std::size_t k) { return k < 2 ? k : 2 * (k - 1); }
  static std::int64_t children(std::size_t operands) { return static_cast<std::int64_t>(operands / 2) - 1; }
};

}  // namespace ops

/// sigmoid(i) tanh(u) plus the sum of sigmoid(f_k) c_k, for i, u, f_1, c_1, f_2, c_2, ...
inline Expr lstm_memory(const Operands& x) { return ops::record<ops::LstmMemory>(x); }

}  // namespace espalier
