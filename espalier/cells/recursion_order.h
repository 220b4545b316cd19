/// RecursionOrder: the rows of a step of a recursion in the order in which they run, and which rows each of them reads.
///
/// Kind after kind, and within one from the lowest to the highest: rows of one kind and height lie beside each other,
/// and all of one kind. It follows from the structures alone; a thread keeps the last few it has found, so that all
/// passes over a step share one.
///
/// Thread safety: each thread has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/cells/recursion_program.h"
#include "espalier/ops/step.h"

namespace espalier::cells {

/// Numbers of rows, in the order of the rows that read them.
class RowList {
 public:
  static constexpr std::int32_t kMissing = -1;

  /// Room for so many numbers, which the caller writes; then close().
  std::int32_t* open(std::size_t count);
  void close();

  std::span<const std::int32_t> numbers() const { return numbers_; }
  /// Places at which there is no row.
  std::span<const std::int32_t> missing() const { return missing_; }
  /// Whether the rows are evenly spaced, from the first on; then how far, in rows.
  bool is_even() const { return is_even_; }
  std::int64_t distance() const { return distance_; }
  /// The numbers times `stride`; 0 for what is missing.
  const std::int64_t* offsets(std::int64_t stride);

 private:
  std::vector<std::int32_t> numbers_;
  std::vector<std::int32_t> missing_;
  bool is_even_ = true;
  std::int64_t distance_ = 1;
  struct Scaled {
    std::int64_t stride = 0;  // 0: not made yet
    std::vector<std::int64_t> offsets;
  };
  std::vector<Scaled> scaled_;
};

class RecursionOrder {
 public:
  /// Rows of one kind and height: places `begin` to `end - 1` of those of the kind.
  struct Level {
    std::int32_t kind;
    std::int32_t begin;
    std::int32_t end;
  };
  /// All rows of one kind.
  struct Kind {
    std::int64_t count = 0;
    RowList rows;               // the rows themselves, as numbers of the step's
    std::vector<RowList> read;  // by input of the program: rows of x, or of the states
  };

  /// That of a step. Valid until some others were asked for.
  static RecursionOrder& of_step(const CompiledRecursion& compiled, const StepIn& in);

  std::span<const Level> levels() const { return levels_; }
  Kind& kind(std::size_t number) { return kinds_[number]; }
  /// Whether some row is the child of several, or of one twice.
  bool shares_children() const { return shares_children_; }
  /// Whether every row of x is read, and by one row only; whether some is read by several.
  bool reads_all_of_x_once() const { return reads_all_of_x_once_; }
  bool shares_x() const { return shares_x_; }

 private:
  bool is_of(const CompiledRecursion& compiled, const StepIn& in) const;
  void find(const CompiledRecursion& compiled, const StepIn& in);
  void sort(const CompiledRecursion& compiled, const StepIn& in);
  void find_reads(const CompiledRecursion& compiled, const StepIn& in);

  // What it is the order of.
  std::uint64_t recursion_ = 0;
  std::vector<std::int64_t> begins_;  // the rows of each node, then those of its x
  std::vector<std::byte> fields_;

  std::vector<Level> levels_;
  std::vector<Kind> kinds_;
  bool shares_children_ = false;
  bool reads_all_of_x_once_ = false;
  bool shares_x_ = false;
  // While it is found.
  std::vector<std::int32_t> node_of_;  // by row
  std::vector<std::int32_t> counts_;   // by height and kind
  std::vector<std::int32_t*> next_;    // likewise: where the next row goes
  std::vector<std::uint8_t> is_read_;
};

}  // namespace espalier::cells
