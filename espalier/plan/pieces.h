/// Pieces: the memory of a plan, each a number of rows that are placed together, and how long it is needed.
///
/// Thread safety: like an int: one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "espalier/batch/buffer.h"
#include "espalier/plan/place.h"
#include "espalier/plan/plan.h"

namespace espalier::plan {

/// Steps are numbered from 0; what is needed beyond the last step, or in backward at the end, lies outside of them.
struct Piece {
  static constexpr std::int32_t kNoGroup = -1;

  std::int64_t bytes = 0;
  std::int32_t value_group = kNoGroup;     // pieces of one group lie one after the other without gaps
  std::int32_t gradient_group = kNoGroup;  // likewise
  std::int32_t first = std::numeric_limits<std::int32_t>::max();
  std::int32_t last = -1;
  std::int32_t first_gradient = std::numeric_limits<std::int32_t>::max();
  std::int32_t last_gradient = -1;

  // Most rows change nothing: without a store there is nothing for the next one to wait for.
  void extend(std::int32_t from, std::int32_t to) {
    if (from < first) first = from;
    if (to > last) last = to;
  }
  void extend_gradient(std::int32_t from, std::int32_t to) {
    if (from < first_gradient) first_gradient = from;
    if (to > last_gradient) last_gradient = to;
  }
};

/// Finds places for pieces; keeps its memory from one use to the next.
class Placement {
 public:
  /// Of the values of `pieces`, and behind them of `saved`.
  Layout place_values(std::span<const Piece> pieces, std::span<const Piece> saved);
  /// Sets plan.gradients and plan.all_gradients; behind the pieces come those of `deferred`.
  void place_gradients(std::span<const Piece> pieces, std::span<const Piece> deferred, Plan& plan);

 private:
  void start(std::size_t pieces);
  std::span<Lease> leases() { return {leases_.data(), leases_used_}; }
  void add(std::int64_t bytes, std::int32_t group, std::int32_t first, std::int32_t last);
  /// Where the pieces lie once the leases are placed.
  std::vector<std::int64_t> places() const;

  struct Part {
    std::int64_t offset;
    std::int32_t lease;
  };
  batch::Buffer<Part> parts_;  // by piece
  std::size_t parts_used_ = 0;
  batch::Buffer<Lease> leases_;
  std::size_t leases_used_ = 0;
  std::vector<std::int32_t> lease_of_group_;
};

}  // namespace espalier::plan
