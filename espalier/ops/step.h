/// What an op's functions get: one row of inputs (PlainIn) for the plain code, n rows (StepIn, StepOut) for the step
/// kernel, and for backward what was kept (Saved) and where gradients are added (Grads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/shape.h"
#include "espalier/graph/parameter.h"
#include "espalier/kernels/rows.h"
#include "espalier/tensor/rows.h"

namespace espalier {

/// The inputs of one node. Of an op with any number of inputs, all of them.
template <class T>
struct PlainIn {
  std::span<const std::span<const T>> values;
  std::span<const Shape> shapes;
  const Shape& out;  // the shape of the result

  std::size_t size() const { return values.size(); }
  std::span<const T> operator[](std::size_t i) const { return values[i]; }
  const Shape& shape(std::size_t i) const { return shapes[i]; }
};

/// The inputs of n nodes of one signature.
///
/// An op with named inputs has one entry an input; an op with `many` inputs one an operand. A ragged op has a single
/// entry with the operands of all nodes, one after the other: those of node r are rows offsets[r] to offsets[r + 1]
/// - 1.
struct StepIn {
  std::int64_t rows = 0;
  std::span<const ConstRows> inputs;
  std::span<const Shape> shapes;
  const Shape* out = nullptr;
  const std::int64_t* offsets = nullptr;
  const std::byte* fields_data = nullptr;
  std::int64_t fields_stride = 0;
  /// Of an op that takes its operands whole: how many nodes there are, and where the rows of each begin, those of its
  /// result and those of its first operand; one more than nodes.
  std::int64_t nodes = 0;
  const std::int64_t* node_begin = nullptr;
  const std::int64_t* operand_begin = nullptr;
  /// Likewise: for each row of its first operand, the first that is known to be equal, which may be itself; null: each
  /// is taken for itself. If the gradients of a node's results are wanted, each of its rows is computed for itself:
  /// then ~row for all its rows.
  const std::int32_t* first_equal = nullptr;
  /// Beside `inputs`: the parameter that a shared input is, or null. Empty where nobody knows.
  std::span<const Parameter* const> parameters;
  WeightUse use;
  /// Of a cell: the inputs that are zeros in every row, as far as that is known, a bit each.
  std::uint64_t zero_inputs = 0;
  /// Of a cell whose first product can run for many steps at once: where it has left what it gives; null: it has not.
  BasicRows<float> hoisted;

  const Parameter* parameter(std::size_t i) const { return parameters.empty() ? nullptr : parameters[i]; }
  ConstRows operator[](std::size_t i) const { return inputs[i]; }
  const Shape& shape(std::size_t i) const { return shapes[i]; }
  std::size_t size() const { return inputs.size(); }
  /// The fields of node r.
  template <class F>
  const F& fields(std::int64_t r) const {
    return *reinterpret_cast<const F*>(fields_data + r * fields_stride);
  }
};

struct StepOut {
  Rows y;
  Rows saved;  // as many floats a row as the op's `saved` said
  /// Of an op that can: what backward needs is left in the inputs that the op `overwrites`, and in `saved` as many
  /// floats a row as its `saved_in_place` said.
  bool in_place = false;
  /// Of a cell: all of its results; y is the first.
  std::span<const Rows> results;
};

struct Saved {
  StepIn in;    // only what Keep names may be read
  ConstRows y;  // likewise
  ConstRows saved;
  bool in_place = false;  // as forward was told
  ConstRows dy;
  /// Of a cell: all of its results, and their gradients, which it may add to.
  std::span<const Rows> results;
  std::span<const Rows> result_gradients;
  /// Of a cell that `opens_results`: the results, a bit each, of whose gradients nothing is there yet.
  std::uint32_t unwritten = 0;
  /// Of a cell: gradients that backward leaves for those of its weights.
  Rows deferred;
};

/// Where the gradient of one input is added. The first writer of a row stores instead, so that nothing need be zeroed
/// before: every wanted row must therefore be written, exactly once a call of backward.
class GradRows {
 public:
  GradRows() = default;
  GradRows(Rows rows, bool store) : rows_(rows), store_(store) {}

  /// Whether anyone wants this gradient.
  explicit operator bool() const { return rows_.data != nullptr; }
  std::int64_t width() const { return rows_.width; }

  void add(std::int64_t r, const float* values) const {
    if (rows_.width == 1)
      add_number(r, *values);
    else if (store_)
      kernels::copy(const_span(values), span(r));
    else
      kernels::add(const_span(values), span(r));
  }
  void add_scaled(std::int64_t r, float factor, const float* values) const {
    if (rows_.width <= kFewNumbers) {
      add_few(r, factor, values);
      return;
    }
    if (store_) kernels::fill(0.0F, span(r));
    kernels::add_scaled(factor, const_span(values), span(r));
  }
  /// Adds the same number everywhere.
  void add_constant(std::int64_t r, float value) const {
    for (float& element : open(r)) element += value;
  }
  /// The row itself, for gradients that are added element by element; zeroed where this is the first writer.
  std::span<float> open(std::int64_t r) const {
    if (store_) kernels::fill(0.0F, span(r));
    return span(r);
  }
  /// For kernels that store or accumulate themselves.
  const Rows& rows() const { return rows_; }
  bool stores() const { return store_; }

 private:
  /// Rows for which a call of a vector function is too much: the scores of a few classes, say.
  static constexpr std::int64_t kFewNumbers = 32;

  /// To a row of one number: the loss of a node, say.
  void add_number(std::int64_t r, float value) const {
    float* const to = rows_[r];
    *to = store_ ? value : *to + value;
  }
  void add_few(std::int64_t r, float factor, const float* values) const {
    float* const to = rows_[r];
    for (std::int64_t i = 0; i < rows_.width; ++i) to[i] = store_ ? factor * values[i] : to[i] + factor * values[i];
  }
  std::span<float> span(std::int64_t r) const { return {rows_[r], static_cast<std::size_t>(rows_.width)}; }
  std::span<const float> const_span(const float* values) const {
    return {values, static_cast<std::size_t>(rows_.width)};
  }

  Rows rows_;
  bool store_ = false;
};

/// The gradients of a step's inputs, in the order of StepIn. Of a shared input there is one row, whatever the nodes.
class Grads {
 public:
  explicit Grads(std::span<const GradRows> inputs) : inputs_(inputs) {}
  const GradRows& operator[](std::size_t i) const { return inputs_[i]; }

 private:
  std::span<const GradRows> inputs_;
};

}  // namespace espalier
