/// RecursionOrder: the rows of a step of a recursion in the order in which they run, and which rows each of them reads.
///
/// Kind after kind, and within one from the lowest to the highest: rows of one kind and height lie beside each other,
/// and all of one kind. Kinds that never read each other, such as the two directions of a sequence, run one after the
/// other, so that what one of them works on stays in the cache, or in threads of their own. The order follows from the
/// structures alone; a thread keeps the last few it has found, so that all passes over a step share one.
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
#include "espalier/cells/row_list.h"
#include "espalier/ops/step.h"

namespace espalier::cells {

/// The first row of x that is equal to a row (StepIn::first_equal).
inline std::int32_t first_equal_of(const StepIn& in, std::int64_t row) {
  return in.first_equal[row] < 0 ? ~in.first_equal[row] : in.first_equal[row];
}

class RecursionOrder {
 public:
  /// Rows of one kind and height: places `begin` to `end - 1` of those of the kind.
  struct Level {
    std::int32_t kind;
    std::int32_t begin;
    std::int32_t end;
    /// The same of the kind's copies.
    std::int32_t copies_begin = 0;
    std::int32_t copies_end = 0;
  };
  /// Kinds that run together: their levels are `begin` to `end - 1` of all.
  struct Part {
    std::int32_t number;  // the least of its kinds
    std::size_t begin;
    std::size_t end;
  };
  /// All rows of one kind.
  struct Kind {
    std::int64_t count = 0;
    std::int64_t childless = 0;   // of height 0: the first of them
    std::int32_t part = 0;        // the number of its part
    bool reads_all_of_x = false;  // each of its rows once
    RowList rows;                 // the rows themselves, as numbers of the step's
    std::vector<RowList> read;    // rows of x, then of each child
    /// Rows that compute what another row of the kind does, and are not among `rows`; from the lowest to the highest.
    struct Copy {
      std::int32_t row;
      std::int32_t of;
    };
    std::vector<Copy> copies;
    std::span<const Copy> copies_of(const Level& level) const {
      return std::span(copies).subspan(at(level.copies_begin), at(level.copies_end - level.copies_begin));
    }
    /// Of a kind whose product of x is hoisted: the rows of x that differ, and which of them each row reads. Empty
    /// where nearly all do.
    RowList distinct_x;
    std::vector<std::int32_t> distinct_of;
    std::vector<std::uint8_t> is_last_equal;  // by row: no later one reads the same

    /// The rows of x or of the states that an input of the program is; the same for all parts of a child's state.
    RowList& read_by(const RecursionInput& input) { return read[place_of(input)]; }
    const RowList& read_by(const RecursionInput& input) const { return read[place_of(input)]; }
    /// The rows of x that its product reads.
    RowList& x_multiplied() { return distinct_x.numbers().empty() ? read[0] : distinct_x; }
    const RowList& x_multiplied() const { return distinct_x.numbers().empty() ? read[0] : distinct_x; }
    static std::size_t place_of(const RecursionInput& input) { return at(input.child - RecursionInput::kX); }
  };

  /// That of a step. Valid until some others were asked for.
  static RecursionOrder& of_step(const CompiledRecursion& compiled, const StepIn& in);

  /// The kinds that have rows, as they run: part after part.
  std::span<const std::int32_t> kinds() const { return kinds_as_they_run_; }
  std::span<const Part> parts() const { return parts_; }
  /// The levels of a part, from the lowest to the highest.
  std::span<const Level> levels(const Part& part) const {
    return std::span(levels_).subspan(part.begin, part.end - part.begin);
  }
  Kind& kind(std::size_t number) { return kinds_[number]; }
  /// Whether some row is the child of several, or of one twice.
  bool shares_children() const { return shares_children_; }
  /// The rows that are nobody's child.
  std::span<const std::int32_t> roots() const { return roots_; }
  /// Whether every row of x is read, and by one row only, and gets the gradient of that alone; whether some is read by
  /// several rows of one kind.
  bool reads_all_of_x_once() const { return reads_all_of_x_once_; }
  bool shares_x() const { return shares_x_; }

 private:
  bool is_of(const CompiledRecursion& compiled, const StepIn& in) const;
  void find(const CompiledRecursion& compiled, const StepIn& in);
  void sort(const CompiledRecursion& compiled, const StepIn& in);
  void find_reads(const CompiledRecursion& compiled, const StepIn& in);
  /// Takes rows that compute what another does out of `counts_`: they are copies. Such rows are of one kind, read equal
  /// rows of x, and their children are equal in turn: whole subtrees are computed once.
  void find_copies(const CompiledRecursion& compiled, const StepIn& in);
  void sort_by_height(const StepIn& in, std::int32_t kinds);
  void find_distinct(const StepIn& in, Kind& kind);
  void run_together(std::int32_t a, std::int32_t b);
  void divide();
  std::int32_t part_of(std::int32_t kind) const;

  // What it is the order of.
  std::uint64_t recursion_ = 0;
  std::vector<std::int64_t> begins_;  // the rows of each node, then those of its x
  std::vector<std::byte> fields_;
  std::vector<std::int32_t> first_equal_;

  std::vector<Level> levels_;  // as they run
  std::vector<Part> parts_;    // likewise
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> kinds_as_they_run_;
  std::vector<std::int32_t> roots_;
  bool shares_children_ = false;
  bool reads_all_of_x_once_ = false;
  bool shares_x_ = false;
  // While it is found.
  std::vector<std::int32_t> node_of_;  // by row
  std::vector<std::int32_t> counts_;   // by height and kind
  std::vector<std::int32_t*> next_;    // likewise: where the next row goes
  std::vector<std::uint8_t> is_child_;
  std::vector<std::uint8_t> is_copy_;    // by row; empty: none is
  std::vector<std::int32_t> by_height_;  // all rows, from the lowest to the highest
  std::vector<std::int32_t> first_of_;   // by row: the first that computes the same, itself for most
  std::vector<std::int32_t> found_;      // a hash table of such rows; -1: free
  std::vector<std::int32_t> numbers_;    // by row of x: its number among those that differ
  std::vector<std::int32_t> x_read_by_;  // the last kind, from 1; 0: none
};

}  // namespace espalier::cells
