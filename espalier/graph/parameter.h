/// A trainable tensor with a name. A Model (nn/model.h) makes and owns parameters; graphs refer to them.
///
/// Thread safety: any number of graphs, in any threads, may read a parameter; writing one excludes all readers.
/// Recording reads no number: a graph may record a parameter while another thread writes it, if it is told before it
/// runs (Graph::use_current_parameters()).
///
/// Lifetime: layers, cells, graphs and block programs keep pointers to parameters and may outlive their Model. A Model
/// therefore owns its parameters through OwnedParameter: the numbers are freed with the Model, but the Parameter object
/// itself (name and shape, about 200 bytes) stays until the process ends, so that every later use is refused by name.
/// A Parameter that you make yourself must outlive every graph that uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "espalier/base/export.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

class Gradients;
namespace kernels {
class Prepared;
}

/// What products with weights are for: decides whether laying the weights out pays.
struct WeightUse {
  std::int64_t rows_to_come = 0;  // that will be multiplied in this run
  bool training = false;          // the weights change after it
};

/// A number that no parameter has, and that no other call gives: names what is made from parameters (Graph::derived).
ESPALIER_EXPORT std::uint64_t new_uid();

class ESPALIER_EXPORT Parameter {
 public:
  Parameter(std::string name, Tensor value);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;
  ~Parameter();

  const std::string& name() const { return name_; }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }

  /// To change the numbers. A graph that recorded this parameter before refuses to compute further nodes with it.
  /// The address of the elements does not change.
  Tensor& mutable_value() {
    count_change();
    return value_;
  }
  /// Another element type or other numbers of the same shape.
  void replace_value(Tensor value);
  /// How often the value was opened for change.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }

  /// Different for every parameter of the process; 0 once it is destroyed, which no graph knows.
  std::uint64_t uid() const { return uid_; }
  /// Whether its Model was destroyed: it has a name and a shape, but no numbers any more.
  bool is_destroyed() const { return uid_ == 0; }

  /// The numbers as a matrix of [k, n], or as the transpose of one, laid out for products; null where that does not
  /// pay. Made when first asked for and kept until the value changes. In training only the run at hand decides, so that
  /// the same step always gives the same bits; else it pays in the long run. May be called from any thread.
  const kernels::Prepared* prepared(std::int64_t k, std::int64_t n, bool transposed, const WeightUse& use) const;
  /// The same for the transpose of `k` rows from row `begin` on, where the numbers are a matrix of n columns.
  const kernels::Prepared* prepared_rows(std::int64_t begin, std::int64_t k, std::int64_t n,
                                         const WeightUse& use) const;

  /// Where backward() adds this parameter's gradient unless it is told otherwise: its Model's. May be null.
  Gradients* gradients = nullptr;
  /// A frozen parameter gets no gradient and no update.
  bool frozen = false;
  /// Multiplies the optimizer's learning rate.
  double learning_rate_scale = 1;
  /// Optimizers multiply the gradient by this before clipping and before their rule.
  double gradient_scale = 1;

 private:
  friend struct DestroyParameter;

  /// By the one thread that writes.
  void count_change() { version_.store(version() + 1, std::memory_order_relaxed); }

  std::string name_;
  Tensor value_;
  std::atomic<std::uint64_t> version_{0};
  std::uint64_t uid_;
  class Layouts;
  std::unique_ptr<Layouts> layouts_;
  Parameter* next_destroyed_ = nullptr;
};

/// Ends the life of a parameter: frees its numbers and keeps the object itself, see above.
struct ESPALIER_EXPORT DestroyParameter {
  void operator()(Parameter* parameter) const noexcept;
};
using OwnedParameter = std::unique_ptr<Parameter, DestroyParameter>;

}  // namespace espalier
