/// What a plan is made with: integers by node, by row and by step, in memory that is kept from one plan to the next.
///
/// Thread safety: like an int: one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "espalier/batch/buffer.h"
#include "espalier/plan/pieces.h"

namespace espalier::plan {

/// Where a row is written: in which slot, and as which of its rows. Slots are the blocks as opened first and, behind
/// them, the memory that each step has for rows without a home. The home of a node is the least of the rows of blocks
/// that want it: steps, operands of a step and rows are numbered in the order of their say.
class Home {
 public:
  Home() = default;
  constexpr Home(std::int32_t slot, std::int32_t row)
      : bits_(static_cast<std::uint64_t>(slot) << 32 | static_cast<std::uint32_t>(row)) {}
  static constexpr Home nowhere() { return {kNoSlot, 1}; }
  static constexpr Home inside() { return {kNoSlot, 0}; }  // of another row

  bool is_given() const { return slot() != kNoSlot; }
  bool is_inside() const { return *this == inside(); }
  std::int32_t slot() const { return static_cast<std::int32_t>(bits_ >> 32); }
  std::int32_t row() const { return static_cast<std::int32_t>(bits_ & 0xFFFFFFFF); }
  bool operator==(const Home&) const = default;
  bool operator<(const Home& other) const { return bits_ < other.bits_; }

 private:
  static constexpr std::int32_t kNoSlot = std::numeric_limits<std::int32_t>::max();

  std::uint64_t bits_;
};

struct Range {
  std::int32_t begin;
  std::int32_t end;
};

/// Half a line of cache: an operand is met at a place in memory that nobody could foresee.
struct Node {
  static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
  static constexpr std::int32_t kKept = 1;         // backward of a consumer reads its value
  static constexpr std::int32_t kHasParts = 2;     // it is read in parts, or written in parts
  static constexpr std::int32_t kFurtherKept = 4;  // backward of a consumer reads a further result of it

  Home home;
  Range inputs;
  std::int32_t step;
  std::int32_t first_use;
  std::int32_t position;  // in the order; -1 until it is known
  std::int32_t flags;
};

struct Step {
  std::int32_t signature;
  std::int32_t first_block;
  std::int32_t next;  // position of the next row
  std::int32_t own;   // rows without a home
  bool has_firsts;    // it is the first consumer of some node
};

/// An operand's columns of a block, as opened first.
struct Opened {
  std::int32_t operand;
  std::int32_t homed;  // rows that are written there at once
  std::int32_t begin;  // of a byte for each of its rows
  std::int32_t first;  // the slot of the operand that the block begins with
  std::int64_t before;
  std::int64_t row_bytes;
};

struct Column {
  std::int32_t node;
  std::int32_t whole;
  std::int64_t bytes;  // before it
};

/// Kept by each thread from one plan to the next.
struct Workspace {
  batch::Buffer<Node> nodes;
  batch::Buffer<Home> homes;
  batch::Buffer<Range> inputs;
  batch::Buffer<Step> steps;
  batch::Buffer<std::int32_t> step_of;
  batch::Buffer<std::int32_t> last_use;
  batch::Buffer<Opened> opened;
  std::vector<std::uint8_t> is_homed;
  std::vector<std::int64_t> more_homed;
  std::vector<std::int32_t> piece_of;
  std::vector<Column> columns;
  batch::Buffer<Piece> pieces;
  std::vector<Piece> saved;
  std::vector<Piece> deferred;
  Placement placement;
};

}  // namespace espalier::plan
