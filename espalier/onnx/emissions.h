/// The ONNX form of every op: how it is written, or why it is not.
///
/// Thread safety: plain functions; an Emitter belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/onnx/body.h"
#include "espalier/onnx/emitter.h"

namespace espalier::onnx {

/// An operand of an op as an ONNX tensor.
struct Given {
  std::string name;
  Shape shape;          // of a row
  bool shared = false;  // one for all rows
};

/// A use of an op.
struct Use {
  std::vector<std::uint32_t> attrs;
  std::vector<Given> x;
  Shape y;
  /// The field: indices [n], or numbers of shape [n] or []; empty if it has none.
  std::string field;
  bool field_is_shared = false;
  /// Of a ragged op: of each row of x, the row of y that it belongs to; and how many each row of y has. Empty in a
  /// cell, where all rows have the same number of operands.
  std::string segments;
  std::string counts;

  template <class T>
  T attrs_as() const;
};

struct Emission {
  enum class Form {
    kWritten,  // by `emit`
    kRow,      // a row of another node, or of the input: the weaver finds it, and nothing is computed
    kRefused,  // for `reason`
  };

  std::string_view op;
  Form form = Form::kWritten;
  std::string (*emit)(Emitter& to, const Use& use) = nullptr;
  Field field = Field::kNone;
  std::string_view reason = {};
  /// Operands that may be one tensor for all rows, a bit each; others are given as rows then.
  std::uint32_t shared = 0;
};

/// Null for an op that has none.
const Emission* find_emission(std::string_view op);
/// Refuses (UsageError) an op that has no ONNX form, by name and with the reason.
const Emission& emission_of(const OpInfo& info);
/// The same for a node, and refuses elements that are not float32, and rows without elements.
void require_exportable(const Graph& graph, NodeId node);

// Parts of the table, by kind of op.
std::span<const Emission> map_emissions();
std::span<const Emission> product_emissions();
std::span<const Emission> reduce_emissions();
std::span<const Emission> move_emissions();

}  // namespace espalier::onnx
