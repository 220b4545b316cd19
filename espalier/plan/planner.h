/// Planner: makes one plan, pass after pass over the schedule; make() names them in order.
///
/// In: a problem and its schedule. Out: the order of rows, the place of each, blocks with what is copied into them.
/// Integers only. What passes hand on is in the Workspace: homes of rows, then pieces of memory with their lifetimes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/batch/schedule.h"
#include "espalier/plan/plan.h"
#include "espalier/plan/workspace.h"

namespace espalier::plan {

class Planner {
 public:
  Planner(const Problem& problem, const batch::Schedule& schedule, Workspace& work, Plan spare);

  Plan make();

 private:
  static constexpr std::int32_t kNone = -1;
  /// Pieces of one signature that lie one after the other: those of each operand's block, and what forward saves.
  static constexpr std::int32_t kGroups = 32;
  static constexpr std::int32_t kSavedGroup = kGroups - 1;

  /// A bit of a mask over operands; operands beyond the last bit share it.
  static bool has(std::uint64_t mask, std::size_t operand) {
    return (mask >> std::min(operand, Facts::kLastBit) & 1U) != 0;
  }
  const Facts& facts(std::int32_t node) const { return problem_.facts[at(problem_.signature[at(node)])]; }
  const Facts& facts_of_step(std::int32_t step) const { return problem_.facts[at(step_[step].signature)]; }
  std::int32_t begin(std::int32_t step) const { return plan_.step_begin[at(step)]; }
  std::int32_t end(std::int32_t step) const { return plan_.step_begin[at(step) + 1]; }
  std::int32_t rows_of_step(std::int32_t step) const {
    if (problem_.rows.empty()) return end(step) - begin(step);
    std::int32_t rows = 0;
    for (std::int32_t p = begin(step); p < end(step); ++p) rows += problem_.rows_of(schedule_.order[at(p)]);
    return rows;
  }
  std::int64_t operand_bytes(std::int32_t step, std::int32_t operand) const {
    return problem_.operand_bytes[at(step_[step].signature)][at(operand)];
  }
  /// Whether a value is still there when the run is over.
  bool stays(bool is_output, bool is_kept) const {
    return is_output || problem_.lifetime == Lifetime::kAll || (problem_.lifetime == Lifetime::kTraining && is_kept);
  }
  std::int32_t new_piece(std::int64_t bytes, std::int32_t value_group, std::int32_t gradient_group) {
    pieces_[piece_count_] = {.bytes = bytes, .value_group = value_group, .gradient_group = gradient_group};
    return piece_count_++;
  }

  // Steps, and who uses a node (plan.cc).
  void open_steps();
  void find_uses();

  // The rows of each step, in the order in which their consumers want them, and their homes (order_rows.cc).
  void append(std::int32_t v, Node& node);
  void order_rows();
  void keep_order();
  void append_unused(std::int32_t t);
  void sweep(std::int32_t t);
  void take_columns();
  void take_columns_of(std::int32_t step, std::int32_t position);

  // Pieces of memory, what lies in them and how long, and where they are (fill_pieces.cc).
  void leave_even(std::int32_t t);
  std::int32_t open_piece(std::int32_t step, std::int32_t block);
  std::int32_t count_rows(std::int32_t t, std::int32_t slot);
  void count_homed();
  bool completes_blocks(std::int32_t t) const;
  void make_pieces();
  void extend(Piece& piece, std::int32_t v, const Facts& f) const;
  void extend_further(std::int32_t v, const Facts& f) const;
  void fill_places();
  bool lie_evenly(std::int32_t step, std::int32_t operand) const;
  void fill_block(std::int32_t step, std::int32_t block);
  void fill_blocks();
  void open_saved();
  std::vector<std::int64_t> by_step(std::vector<std::int64_t>& at_all, std::size_t before,
                                    std::span<const Piece> pieces, std::int32_t Piece::*step) const;
  void place_all();

  const Problem& problem_;
  const batch::Schedule& schedule_;
  std::int32_t size_;
  std::int32_t steps_;
  Plan plan_;
  // Of the workspace.
  Node* nodes_;
  Home* homes_;    // by position in the order
  Range* inputs_;  // likewise
  Step* step_;
  std::int32_t* step_of_;   // by node
  std::int32_t* last_use_;  // by node: the step
  Opened* opened_;          // each has at least one operand of its own
  std::vector<std::uint8_t>& is_homed_;
  std::vector<std::int64_t>& more_homed_;  // by signature: rows of blocks with their home there, less those without
  std::vector<std::int32_t>& piece_of_;    // by slot
  std::vector<Column>& columns_;
  std::vector<Piece>& saved_;
  std::vector<Piece>& deferred_;
  Workspace& work_;
  Piece* pieces_ = nullptr;
  std::int32_t piece_count_ = 0;
};

}  // namespace espalier::plan
