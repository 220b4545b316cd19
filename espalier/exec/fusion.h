/// Finds consecutive steps that go over the same rows in the same order: they may run tile by tile, so that what one
/// leaves is still in the cache when the next reads it. What a cell is compiled to, plain code gets by this.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

class Fusion {
 public:
  Fusion(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table) {}

  /// How many steps of the run, from `step` on, can run together; 1 where nothing is gained.
  std::int32_t steps_from(const Run& run, std::int32_t step);

 private:
  bool fits(const Run& run, std::int32_t step) const;
  /// Every operand that a step of the group makes is made for the same row.
  bool lines_up(std::span<const NodeId> nodes) const;
  void mark(std::span<const NodeId> nodes);

  const Graph& graph_;
  const NodeTable& table_;
  struct Mark {
    std::uint32_t group = 0;
    std::int32_t row = 0;
  };
  std::vector<Mark> marks_;  // by node
  std::uint32_t group_ = 0;
};

}  // namespace espalier::exec
