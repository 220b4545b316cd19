/// RowSource: where the row of a node is that has none of its own. All such nodes are told here: leaves (among them
/// zeros), merged nodes, views, and lookups that are read in their table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

struct RowSource {
  enum class Kind : std::uint8_t {
    kLeaf,       // the numbers that were recorded, or those of the parameter
    kZeros,      // the same: zeros that many leaves share
    kMerged,     // the row of an equal node
    kPart,       // a part of another row
    kTableRow,   // a row of a table
    kTableRows,  // many rows of a table, each wherever it is
  };
  Kind kind = Kind::kLeaf;
  NodeId from{};                 // whose memory that is
  std::byte* address = nullptr;  // of a row; of kTableRows, of the table

  /// Whether the row is still there after the run if that of `from` is. A parameter may change.
  bool lasts() const { return kind < Kind::kTableRow; }
};

/// Where the row of a leaf is, or of a node that a Collector listed in Work::elsewhere. Those that they are taken from
/// must have their addresses. Refuses (UsageError) a parameter that was changed or destroyed.
RowSource row_source(const Graph& graph, const NodeTable& table, NodeId node);

/// Gives the node that row as its value.
void set_value(NodeTable& table, NodeId node, const RowSource& source);

}  // namespace espalier::exec
