/// What a run has to compute, as integers: the nodes of one plan, what they read, and how large their rows are.
///
/// Equal problems have equal plans, whatever graph they come from: a plan may be kept and used again.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/bytes.h"
#include "espalier/base/strategy.h"

namespace espalier::plan {

/// What a plan needs to know about the nodes of one signature.
struct Facts {
  std::int64_t row_bytes = 0;    // of the result
  std::int64_t saved_bytes = 0;  // that forward leaves for backward, a row
  /// Operands that are to lie side by side in one block, a bit each: those of a product whose other side is shared.
  std::uint64_t blocks = 0;
  /// Operands that backward reads, a bit each, kLastBit for all from there on; of an op with any number of operands,
  /// all or none.
  std::uint64_t keeps_inputs = 0;
  static constexpr std::size_t kLastBit = 63;
  bool keeps_output = false;
  bool side_by_side = false;  // the result is the operands, one after the other
  bool is_product = false;    // its rows should be evenly spaced
  bool defers = false;        // the gradients of shared operands are taken of all its rows together, at the end
  bool gathers = false;       // its kernel takes the rows of its blocks from wherever they lie
  /// Of a cell: what backward leaves for the gradients of its weights, a row.
  std::int64_t deferred_bytes = 0;
  bool saves_for_backward_only = false;  // where values do not outlive the run, nothing is left
  /// Of a cell: the bytes of a row of all its results but the first, which are no nodes. In memory those of a step lie
  /// together: all rows of the second result in the order of the step, then all of the third.
  std::int64_t further_bytes = 0;
  bool keeps_further = false;  // its backward reads them
  bool operator==(const Facts&) const = default;
};

/// Where in its block an operand lies: operands of one signature may share one, side by side.
struct BlockColumn {
  std::int32_t first = 0;      // the operand that the block begins with
  std::int64_t before = 0;     // bytes of a row before this operand
  std::int64_t row_bytes = 0;  // of the block
  bool operator==(const BlockColumn&) const = default;
};

/// How long values must last.
enum class Lifetime : std::int32_t {
  kAll,       // until the graph is cleared
  kTraining,  // those that backward reads, and outputs
  kFinish,    // outputs only
};

/// Node v has operands inputs[input_begin[v]] to inputs[input_begin[v + 1] - 1]; operands come before their users.
struct Problem {
  static constexpr std::int32_t kOutside = -1;  // an operand that was computed before, or is a leaf

  Strategy strategy = Strategy::kFrontier;
  std::uint64_t own_strategy = 0;  // the uid of the strategy that is used instead, if one is
  Lifetime lifetime = Lifetime::kAll;
  std::vector<Facts> facts;  // by signature
  /// By signature: the bytes of each operand's row, where they are needed: of ops with blocks or side by side.
  std::vector<std::vector<std::int64_t>> operand_bytes;
  /// By signature, then by operand; empty where every operand has a block of its own.
  std::vector<std::vector<BlockColumn>> columns;
  std::vector<std::int32_t> signature;
  std::vector<std::int32_t> input_begin{0};
  std::vector<std::int32_t> inputs;
  /// Beside inputs, how they are read: kPart, not the whole row but a part of it; kFurther, a further result of the
  /// node.
  static constexpr std::uint8_t kPart = 1;
  static constexpr std::uint8_t kFurther = 2;
  std::vector<std::uint8_t> is_part;
  /// By node, what outlives the run: kOutput, its value; kFurtherOutput, its further results.
  static constexpr std::uint8_t kOutput = 1;
  static constexpr std::uint8_t kFurtherOutput = 2;
  std::vector<std::uint8_t> is_output;
  /// By node: how many rows it has, one behind the other. Empty where each has one. Nodes of many rows neither have
  /// blocks nor are written into those of others.
  std::vector<std::int32_t> rows;

  std::int32_t size() const { return static_cast<std::int32_t>(signature.size()); }
  std::int32_t rows_of(std::int32_t node) const { return rows.empty() ? 1 : rows[static_cast<std::size_t>(node)]; }
  BlockColumn column(std::int32_t of_signature, std::int32_t operand) const {
    const auto s = static_cast<std::size_t>(of_signature);
    const auto i = static_cast<std::size_t>(operand);
    if (s < columns.size() && !columns[s].empty()) return columns[s][i];
    return {operand, 0, operand_bytes[s][i]};
  }
  bool operator==(const Problem&) const = default;
  /// Memory of what it says of nodes.
  std::int64_t memory() const { return memory_of(signature, input_begin, inputs, is_part, is_output, rows); }

  /// Forgets all that is not of a node's own; whoever describes the next problem overwrites the rest.
  void clear_facts() {
    facts.clear();
    operand_bytes.clear();
    columns.clear();
    is_output.clear();
    rows.clear();
  }
};

/// Refuses (ResourceError) a problem whose values take more bytes than a process can address, so that no sum of bytes
/// overflows.
void require_addressable(const Problem& problem);

/// For finding equal problems fast.
std::uint64_t hash_of(const Problem& problem);

}  // namespace espalier::plan
