#pragma once

#include <array>
#include <string>
#include <vector>

#include "espalier/kernels/lstm.h"
#include "espalier/ops/op.h"
#include "espalier/ops/sigmoid.h"

namespace espalier {
namespace ops {

inline kernels::GradientRows target_of(const GradRows& grads) { return {grads.rows(), grads.stores()}; }

/// Columns k * width to (k + 1) * width - 1.
template <class T>
BasicRows<T> part_of(BasicRows<T> rows, std::size_t k, std::int64_t width) {
  rows.data += static_cast<std::int64_t>(k) * width;
  rows.width = width;
  return rows;
}

/// One for each operand: most cells have few.
template <class T>
class Few {
 public:
  explicit Few(std::size_t count) : many_(count > few_.size() ? count : 0) {}
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }

 private:
  std::array<T, 6> few_{};
  std::vector<T> many_;
};

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
  static bool overwrites(std::size_t operand) { return !keeps_operand(operand); }
  static std::int64_t saved_in_place(const Attrs&, const InputShapes&) { return 0; }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    kernels::lstm_memory(Forward(in, out).rows());
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    kernels::lstm_memory_gradient(Backward(saved, grads).rows());
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

  /// A step as its kernel takes it.
  class Forward {
   public:
    Forward(const StepIn& in, const StepOut& out) : opened_(gates(in.size())) {
      const bool leaves = out.in_place || out.saved.data != nullptr;
      for (std::size_t k = 0; k < gates(in.size()) && leaves; ++k) {
        const ConstRows gate = in[gate_of(k)];
        opened_[k] = out.in_place
                         ? Rows{const_cast<float*>(gate.data), gate.count, gate.width, gate.stride, gate.offsets}
                         : part_of(out.saved, k, out.y.width);
      }
      rows_ = {children(in.size()), in.inputs.data(), out.y, leaves ? opened_.data() : nullptr};
    }
    Forward(const Forward&) = delete;
    Forward& operator=(const Forward&) = delete;
    ~Forward() = default;
    const kernels::LstmMemoryRows& rows() const { return rows_; }

   private:
    Few<Rows> opened_;
    kernels::LstmMemoryRows rows_;
  };
  class Backward {
   public:
    Backward(const Saved& saved, const Grads& grads) : opened_(gates(saved.in.size())), targets_(saved.in.size()) {
      for (std::size_t k = 0; k < gates(saved.in.size()); ++k)
        opened_[k] = saved.in_place ? saved.in[gate_of(k)] : part_of(saved.saved, k, saved.dy.width);
      for (std::size_t k = 0; k < saved.in.size(); ++k) targets_[k] = target_of(grads[k]);
      rows_ = {children(saved.in.size()), saved.in.inputs.data(), opened_.data(), saved.dy, targets_.data()};
    }
    Backward(const Backward&) = delete;
    Backward& operator=(const Backward&) = delete;
    ~Backward() = default;
    const kernels::LstmMemoryGradients& rows() const { return rows_; }

   private:
    Few<ConstRows> opened_;
    Few<kernels::GradientRows> targets_;
    kernels::LstmMemoryGradients rows_;
  };

 private:
  /// The operand that is opened as number k.
  static std::size_t gate_of(std::size_t k) { return k < 2 ? k : 2 * (k - 1); }
  static std::size_t gates(std::size_t operands) { return operands / 2 + 1; }
  static std::int64_t children(std::size_t operands) { return static_cast<std::int64_t>(operands / 2) - 1; }
};

}  // namespace ops

/// sigmoid(i) tanh(u) plus the sum of sigmoid(f_k) c_k, for i, u, f_1, c_1, f_2, c_2, ...
inline Expr lstm_memory(const Operands& x) { return ops::record<ops::LstmMemory>(x); }

}  // namespace espalier
