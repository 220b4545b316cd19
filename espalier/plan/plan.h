/// Plans: a schedule with every row placed in memory before anything runs.
///
/// An operand of a product with shared weights is a *block*: its rows, one a node, lie side by side in the order of the
/// step. A node's *home* is its row in the block of its first such consumer: it is written there at once. What is
/// concatenated is written into its columns of the whole. A block's other rows are copied, and counted.
///
/// The rows of a step are in the order in which their first consumers want them: steps are swept from the last to the
/// first, and a node is appended to its step when its first consumer is reached.
///
/// Thread safety: pure functions, each thread with memory of its own; a plan never changes once made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/bytes.h"
#include "espalier/batch/schedule.h"
#include "espalier/plan/problem.h"

namespace espalier::plan {

/// One operand of a step whose rows lie side by side. Operands that share a block are beside each other in its rows.
struct Block {
  std::int32_t operand = 0;
  std::int32_t piece = 0;
  std::int64_t before = 0;     // bytes of a row before this operand
  std::int64_t row_bytes = 0;  // from row to row
  /// Rows that are copied there, as numbers within the step: copies[copy_begin] to copies[copy_end - 1].
  std::int32_t copy_begin = 0;
  std::int32_t copy_end = 0;
};

/// Where pieces lie, for values or for gradients.
struct Layout {
  std::vector<std::int64_t> at;           // of each piece, in bytes
  std::vector<std::int64_t> deferred_at;  // by step, of gradients: what backward leaves for those of weights
  std::int64_t bytes = 0;

  /// Memory of the layout itself.
  std::int64_t memory() const { return memory_of(at, deferred_at); }
};

struct Plan {
  /// The nodes, step after step, in the order of their rows.
  std::vector<std::int32_t> order;
  std::vector<std::int32_t> step_begin;
  std::int64_t bound = 0;
  bool bound_is_exact = true;
  std::int64_t forced = 0;

  // By node.
  std::vector<std::int32_t> piece;   // that its row lies in
  std::vector<std::int64_t> within;  // where in that piece, in bytes
  std::vector<std::int32_t> inside;  // the node whose row its own is a part of, or -1
  std::vector<std::uint8_t> lasts;   // its value is still there when the run is over

  // By step.
  std::vector<std::int64_t> saved_at;        // what forward leaves for backward, in bytes; -1 where nothing is left
  std::vector<std::int32_t> signature_rows;  // of all steps of its signature
  std::vector<std::int32_t> further;         // the piece of its further results; -1 for none
  std::vector<std::uint8_t> further_lasts;   // whether these are still there when the run is over
  std::vector<std::int32_t> block_begin;
  std::vector<Block> blocks;
  std::vector<std::int32_t> copies;

  Layout values;
  /// Gradients where those of one plan alone are wanted at a time; bytes are used again. Where values last only until
  /// the run is over there are no gradients.
  Layout gradients;
  /// Gradients where all of them stay.
  Layout all_gradients;
  std::int64_t copied_bytes = 0;

  /// Memory of the plan itself.
  std::int64_t memory() const {
    return memory_of(order, step_begin, piece, within, inside, lasts) +
           memory_of(saved_at, signature_rows, further, further_lasts, block_begin, blocks, copies) + values.memory() +
           gradients.memory() + all_gradients.memory();
  }
  std::int32_t steps() const { return static_cast<std::int32_t>(step_begin.size()) - 1; }
  std::span<const Block> blocks_of(std::int32_t step) const {
    const auto s = static_cast<std::size_t>(step);
    return std::span<const Block>(blocks).subspan(static_cast<std::size_t>(block_begin[s]),
                                                  static_cast<std::size_t>(block_begin[s + 1] - block_begin[s]));
  }
  std::span<const std::int32_t> copies_of(const Block& block) const {
    return std::span<const std::int32_t>(copies).subspan(static_cast<std::size_t>(block.copy_begin),
                                                         static_cast<std::size_t>(block.copy_end - block.copy_begin));
  }
};

/// `spare` is any plan that is needed no more: its memory is used again.
Plan make_plan(const Problem& problem, const batch::Schedule& schedule, Plan spare = {});

}  // namespace espalier::plan
