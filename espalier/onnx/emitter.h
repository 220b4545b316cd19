/// Emitter: appends ONNX operations to a graph, and names what they give.
///
/// Rows lie along the first axis: a stacked value of shape [a, b] is an ONNX tensor [n, a, b], where n may be 0. A
/// shared one is [a, b].
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/shape.h"
#include "espalier/onnx/messages.h"

namespace espalier::onnx {

/// Constants of the whole file, each stored once. Bodies of loops see them too.
class Constants {
 public:
  std::string ints(const std::vector<std::int64_t>& values);
  std::string int_scalar(std::int64_t value);
  std::string number(float value);
  /// Initializers.
  const std::vector<std::string>& tensors() const { return tensors_; }

 private:
  std::string add(std::string_view kind, ElementType type, const std::vector<std::int64_t>& shape,
                  const std::string& raw);

  std::map<std::string, std::string> names_;  // by kind and bytes
  std::vector<std::string> tensors_;
};

using Names = std::vector<std::string>;

class Emitter {
 public:
  /// `prefix` begins the names of what is made here.
  Emitter(Constants& constants, std::string prefix) : constants_(constants), prefix_(std::move(prefix)) {}

  /// An operation of one result, which is named.
  std::string op(std::string_view type, const Names& inputs, const Names& attributes = {});
  /// An operation whose results have these names.
  void op_to(const Names& outputs, std::string_view type, const Names& inputs, const Names& attributes = {});

  /// A value of `shape` per row, whose numbers are those of x in row-major order.
  std::string reshape(const std::string& x, const Shape& from, const Shape& to);
  std::string flat(const std::string& x, const Shape& shape) { return reshape(x, shape, Shape{shape.elements()}); }
  /// Columns begin to end - 1 along an axis of the tensor.
  std::string slice(const std::string& x, std::int64_t begin, std::int64_t end, std::int64_t axis);
  /// One that sums, say, over axes of the tensor, which go away unless they are kept.
  std::string reduce(std::string_view type, const std::string& x, const std::vector<std::int64_t>& axes,
                     bool keep = false);
  std::string concat(const Names& x, std::int64_t axis);

  std::string ints(const std::vector<std::int64_t>& values) { return constants_.ints(values); }
  std::string int_scalar(std::int64_t value) { return constants_.int_scalar(value); }
  std::string number(double value) { return constants_.number(static_cast<float>(value)); }

  /// The nodes so far.
  const std::vector<std::string>& nodes() const { return nodes_; }

 private:
  Constants& constants_;
  std::string prefix_;
  std::int64_t made_ = 0;
  std::vector<std::string> nodes_;
};

}  // namespace espalier::onnx
