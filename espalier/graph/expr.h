/// Expr: a handle to one recorded node; Operand: an Expr or Parameter on its way into an op, with the user's source
/// line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "espalier/base/dtype.h"
#include "espalier/base/export.h"
#include "espalier/base/ids.h"
#include "espalier/base/inline_list.h"
#include "espalier/base/shape.h"
#include "espalier/base/source_line.h"
#include "espalier/base/whole.h"
#include "espalier/graph/graph_slot.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

class Graph;
class Gradients;
class Parameter;
class Expr;

/// Parameters that a backward pass may update directly at its end.
class ParameterValues {
 public:
  virtual ~ParameterValues() = default;
  /// The float32 numbers of a parameter, which count as changed from here on; null if they must not be changed.
  virtual float* open(const Parameter& parameter) = 0;
};

/// Where the gradients of a backward pass go.
struct BackwardOptions {
  /// Receives the gradients of parameters; null: the gradients of the parameters' own Model.
  Gradients* into = nullptr;
  /// All gradients are multiplied by this.
  double factor = 1;
  /// If set: the gradients of weights and biases that are used only in products are added directly to these values, at
  /// the end of the pass, and nowhere else. Unlike gradients, changed values stay changed if backward() throws.
  ParameterValues* values = nullptr;
  /// Nodes, usually inputs, whose gradient Expr::grad() returns afterwards.
  std::vector<Expr> wanted;
};

/// A value type of 16 bytes; copying it copies nothing else. It lives as long as its graph's records: using it after
/// Graph::clear() or after the graph is gone is a UsageError.
class ESPALIER_EXPORT Expr {
 public:
  Expr() = default;
  Expr(GraphSlot* slot, std::uint32_t generation, NodeId node)
      : parts_{number_of(slot), static_cast<std::int64_t>(std::uint64_t{generation} << 32 |
                                                          static_cast<std::uint32_t>(index_of(node)))} {}

  Graph& graph() const;
  NodeId node() const { return NodeId{static_cast<std::int32_t>(parts_[1])}; }
  /// If the node has many rows, the shape of one row.
  const Shape& shape() const;
  DType dtype() const;
  /// The number of rows: 1 unless the node has many rows.
  std::int32_t row_count() const;
  bool has_many_rows() const;

  /// Computes the node and everything it depends on, unless that was done before, and returns a copy of the numbers. If
  /// the node has many rows, they are the first axis of the result.
  Tensor value() const;
  /// value().item(): the number, if the node has one element.
  double scalar() const;

  /// Differentiates this node, which must have one element, with respect to every parameter it depends on, and adds
  /// the gradients to those of the parameters' Model (or where `options` says). If it throws, all gradients are as
  /// they were before the call.
  void backward(const BackwardOptions& options = {}) const;
  /// The gradient of the last backward() with respect to this node. Refuses a node that was not `wanted` there.
  Tensor grad() const;

  GraphSlot* slot() const { return address_in<GraphSlot>(parts_[0]); }
  std::uint32_t generation() const { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(parts_[1]) >> 32); }

 private:
  friend class Operand;

  Whole parts_{};  // the slot; the generation, and the node below it
};

/// The argument type of ops: converts from an Expr or a parameter at the user's line, and remembers that line.
class Operand {
 public:
  Operand(const Expr& expr, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
          std::int32_t line = __builtin_LINE())
      : expr_(expr), where_{file, line} {}
  Operand(const Parameter& parameter, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
          std::int32_t line = __builtin_LINE())
      : Operand(&parameter, SourceLine{file, line}) {}
  Operand(const Parameter* parameter, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
          std::int32_t line = __builtin_LINE())
      : Operand(parameter, SourceLine{file, line}) {}
  Operand(const Expr& expr, SourceLine where) : expr_(expr), where_(where) {}
  Operand(const Parameter* parameter, SourceLine where) : where_(where) {
    expr_.parts_ = Whole{0, number_of(parameter)};
  }

  /// Of a parameter, an Expr that belongs to no graph.
  const Expr& expr() const { return expr_; }
  const Parameter* parameter() const {
    return expr_.slot() == nullptr ? address_in<const Parameter>(expr_.parts_[1]) : nullptr;
  }
  SourceLine where() const { return where_; }
  /// Another operand with this one's source line: a layer made of several ops names its caller's line in each.
  Operand at(const Expr& other) const { return {other, where_}; }
  Operand at(const Parameter* other) const { return {other, where_}; }

  /// Shape and element type of whichever it is.
  ESPALIER_EXPORT const Shape& shape() const;
  ESPALIER_EXPORT DType dtype() const;

 private:
  Expr expr_;  // where its graph would be, none: the parameter in place of the rest
  SourceLine where_;
};

/// Any number of operands, from a braced list or a vector of Exprs. A view: used within the call it is made for.
class Operands {
 public:
  Operands(std::initializer_list<Expr> list,  // NOLINT(google-explicit-constructor)
           const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : list_(list.begin(), list.size()), where_{file, line} {}
  Operands(const std::vector<Expr>& list, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
           std::int32_t line = __builtin_LINE())
      : list_(list), where_{file, line} {}
  Operands(std::span<const Expr> list, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
           std::int32_t line = __builtin_LINE())
      : list_(list), where_{file, line} {}
  Operands(std::span<const Expr> list, SourceLine where) : list_(list), where_(where) {}

  std::span<const Expr> list() const { return list_; }
  SourceLine where() const { return where_; }

 private:
  std::span<const Expr> list_;
  SourceLine where_;
};

/// A few of each, without the heap.
using ExprList = InlineList<Expr, 8>;
using OperandList = InlineList<Operand, 8>;

}  // namespace espalier
