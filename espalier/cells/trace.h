/// Calls a cell's function once, in a graph of its own, and compiles what it recorded.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/cells/program.h"

namespace espalier::cells {

/// The programs of a cell for one combination of shapes: one, or two where some inputs are outer. Where there is none,
/// the function is to be called instead.
struct Compiled final : CompiledCell {
  /// Where an input of a program or a result of the cell comes from.
  enum class From : std::int32_t { kInput, kProjection, kUpdate };
  struct Source {
    From from = From::kInput;
    std::size_t number = 0;
  };
  std::shared_ptr<const Program> projection;  // of the outer inputs; may be null
  std::vector<Source> projection_inputs;
  std::shared_ptr<const Program> update;  // may be null
  std::vector<Source> update_inputs;
  std::vector<Source> results;
  /// Of the function: those that no result depends on count too, so that the others have the masks of the expansion.
  std::uint32_t random_ops = 0;
  /// Whether the function uses an op that takes a list of any length, such as sum().
  bool takes_lists = false;
  /// Where there is no program: why, as a part of a sentence; "" where nothing is computed.
  std::string why_not;

  /// Whether a use is the update's nodes alone, with its inputs and results as they are.
  bool is_direct() const;

  /// Records a use, and says in `known` which nodes it has.
  void record(Graph& graph, std::span<const Operand> inputs, KnownCell& known, ExprList& results) const;
  /// The same for inputs like those of a use that the graph knows.
  void record_like(Graph& graph, std::span<const NodeId> inputs, SourceLine where, const KnownCell& known,
                   std::span<Expr> results) const;
};

/// Refuses (UsageError) what the function of a cell may not do. `graph` is the one that the inputs belong to: where the
/// function fails for reasons of its own, it is called there once more, so that the message names the user's nodes.
std::shared_ptr<const Compiled> compile(const std::string& name, const CellOptions& options, const Graph& graph,
                                        std::span<const Operand> inputs, const FunctionRef& function);

/// The graph of the first input that has one; refuses stale Exprs, those of another graph, and parameters alone.
Graph& graph_of_inputs(const std::string& name, std::span<const Operand> inputs);

}  // namespace espalier::cells
