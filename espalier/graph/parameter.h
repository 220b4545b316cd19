/// A trainable tensor with a name. A Model (nn/model.h) makes and owns parameters; graphs refer to them.
///
/// Thread safety: any number of graphs, in any threads, may read a parameter; writing one excludes all readers.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/base/export.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

class Gradients;

class ESPALIER_EXPORT Parameter {
 public:
  Parameter(std::string name, Tensor value);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;
  ~Parameter() = default;

  const std::string& name() const { return name_; }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }

  /// To change the numbers. A graph that recorded this parameter before refuses to compute further nodes with it.
  /// The address of the elements does not change.
  Tensor& mutable_value() {
    ++version_;
    return value_;
  }
  /// Another element type or other numbers of the same shape.
  void replace_value(Tensor value);
  /// How often the value was opened for change.
  std::uint64_t version() const { return version_; }

  /// Different for every parameter of the process.
  std::uint64_t uid() const { return uid_; }

  /// Where backward() adds this parameter's gradient unless it is told otherwise: its Model's. May be null.
  Gradients* gradients = nullptr;
  /// A frozen parameter gets no gradient and no update.
  bool frozen = false;
  /// Multiplies the optimizer's learning rate.
  double learning_rate_scale = 1;

 private:
  std::string name_;
  Tensor value_;
  std::uint64_t version_ = 0;
  std::uint64_t uid_;
};

}  // namespace espalier
