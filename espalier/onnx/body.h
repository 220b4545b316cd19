/// Body: what a signature computes, op by op, whatever it was recorded as: an op, a cell or a kind of a recursion.
///
/// All that the export knows about cells and recursions goes through this header.
///
/// Thread safety: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/shape.h"
#include "espalier/graph/graph.h"

namespace espalier::onnx {

/// What a node has beside its operands.
enum class Field : std::int32_t {
  kNone,
  kRow,     // a row of the input data
  kIndex,   // a row of a table, an element of an operand
  kNumber,  // a number
};

/// One tensor for all nodes of a signature: a parameter, or computed from parameters alone.
struct Shared {
  std::string name;                      // of a parameter; else how it is computed
  const Parameter* parameter = nullptr;  // or null
  NodeId node{};                         // in the graph that the body was read from
  Shape shape;
};

struct BodyOp {
  const OpInfo* info = nullptr;  // null: columns of a value, from `offset` on
  std::vector<std::uint32_t> attrs;
  std::vector<std::byte> fields;  // the same for all nodes
  std::vector<std::int32_t> in;   // values
  std::int32_t parts = 1;         // of a product: so many of the first values stand side by side
  std::int32_t plus = -1;         // of a product: the value that it is added to
  std::int64_t offset = 0;
  std::int32_t out = -1;
};

struct BodyValue {
  Shape shape;
  std::int32_t operand = -1;  // which, or
  std::int32_t shared = -1;   // which, or made by an op
};

struct Body {
  enum class Kind : std::int32_t {
    kRow,     // a row of the input data
    kLookup,  // a row of a table
    kShared,  // the only shared tensor as a row
    kCode,
  };

  Kind kind = Kind::kCode;
  std::string name;
  Field field = Field::kNone;
  std::int32_t choices = 0;  // an index is from 0 to below so many
  bool ragged = false;       // any number of operands, all of the shape of the only one
  std::vector<Shape> operands;
  std::vector<Shared> shared;
  std::vector<BodyValue> values;
  std::vector<BodyOp> ops;
  std::vector<std::int32_t> results;  // values

  /// Equal for bodies that compute the same, also in another process.
  std::string key() const;
  const Shape& result(std::size_t k) const { return values[static_cast<std::size_t>(results[k])].shape; }
};

/// The body of a node that is an op or a cell.
Body body_of(const Graph& graph, NodeId node);
/// The body of rows of a shape: input data.
Body row_body(const Shape& shape);
/// The body of a shared node that is used as a row.
Body shared_body(const Graph& graph, NodeId node);

/// A recursion's node, kind by kind and row by row.
class RecursionView {
 public:
  RecursionView(const Graph& graph, NodeId node);

  Body body(std::int32_t kind) const;
  std::size_t parts() const;
  const Shape& state(std::size_t part) const;

  struct Row {
    std::int32_t kind;
    std::int32_t height;
    std::int32_t x;
    std::span<const std::int32_t> children;  // below 0: missing
  };
  Row row(std::int64_t r) const;
  /// What an operand of a kind is: the row of x (child below 0), or a part of a child's state.
  struct Source {
    std::int32_t child;
    std::int32_t part;
  };
  std::vector<Source> sources(std::int32_t kind) const;

  static bool is_recursion(const Graph& graph, NodeId node);

 private:
  const Graph& graph_;
  NodeId node_;
};

}  // namespace espalier::onnx
