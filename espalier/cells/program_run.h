/// ProgramRun: a program over the rows of a step. Where its values and their gradients are is found once; then any of
/// the rows run, in any order that what they read allows: a cell runs all of them, a recursion those of one height.
///
/// Thread safety: opening is for one thread. Once open, rows may run in any threads, each of them in one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/cells/program.h"
#include "espalier/ops/step.h"
#include "espalier/tensor/rows.h"

namespace espalier::cells {

/// Where a value or its gradient is for the rows of a step.
struct Location {
  enum class In : std::int32_t {
    kRows,   // of the step
    kPiece,  // memory of the thread, for the rows of a piece
    kTile,   // likewise, the same for every tile
  };

  float* data = nullptr;  // in memory of the thread: null; else null where there is none
  std::int64_t stride = 0;
  const std::int64_t* offsets = nullptr;
  In in = In::kRows;
  std::int64_t before = 0;  // floats before it in memory of the thread

  bool is_none() const { return in == In::kRows && data == nullptr; }
};

/// Memory that a program leaves behind, so many floats a row: row after row, or value after value, each of which then
/// lies without gaps, as products want it.
struct Kept {
  Rows rows;
  bool by_value = false;

  bool is_none() const { return rows.data == nullptr; }
  /// `width` floats of every row behind the first `before`.
  Location columns(std::int64_t before, std::int64_t width) const {
    if (is_none()) return {};
    if (by_value) return {rows.data + before * rows.count, width, nullptr};
    return {rows.data + before, rows.stride, rows.offsets};
  }
};

/// Inputs that are known to be zeros in the first rows of a step: of a recursion, the states of children that none of
/// these rows has.
struct ZeroInputs {
  std::int64_t rows = 0;
  std::uint64_t inputs = 0;  // a bit each
};

/// What the product that a program hoists was made of, and its gradient, where that is not row by row.
struct HoistedRows {
  ConstRows x;
  ConstRows dy;
};

class ProgramRun {
 public:
  /// What forward reads and writes. The lists of `in` must stay where they are; `saved` is none where nothing is left
  /// for backward.
  void open(const Program& program, const StepIn& in, std::span<const Rows> results, const Kept& saved,
            const ZeroInputs& zeros = {});
  /// What backward reads and writes besides; the lists must stay.
  void open_gradients(std::span<const Rows> result_gradients, const Kept& deferred, const Grads& grads);

  /// Runs `count` rows from row `begin` on, in the threads of the pool where that pays. They must all have zero inputs
  /// or none of them.
  void forward(std::int64_t begin, std::int64_t count) const;
  void backward(std::int64_t begin, std::int64_t count) const;
  /// The gradients of shared inputs, over all rows. `dy` is the gradient of the first result.
  void weight_gradients(const ConstRows& dy, const Kept& deferred, const Grads& grads,
                        const HoistedRows& hoisted = {}) const;

  // --- for running it ------------------------------------------------------------------------------------------------

  const Program& program() const { return *program_; }
  const StepIn& in() const { return in_; }
  const Location& value(std::int32_t base) const { return values_[static_cast<std::size_t>(base)]; }
  const Location& gradient(std::int32_t base) const { return gradients_[static_cast<std::size_t>(base)]; }
  const Kept& saved() const { return saved_; }
  const Kept& deferred() const { return deferred_; }
  const Grads& grads() const { return grads_; }
  /// How many of the first rows a product adds nothing to: all that it multiplies is zeros there.
  std::int64_t rows_of_zeros(const Instruction& product) const;

 private:
  const Program* program_ = nullptr;
  StepIn in_;
  Kept saved_;
  Kept deferred_;
  Grads grads_{{}};
  ZeroInputs zeros_;
  std::vector<Location> values_;     // by base
  std::vector<Location> gradients_;  // likewise
};

}  // namespace espalier::cells
