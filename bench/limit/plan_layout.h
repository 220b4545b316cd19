/// PlanLayout: where every operator of a minibatch of query plans has its row.
///
/// Rows are sorted by kind, then lane, then height: operators of one kind, one lane and one height are one group, which
/// runs together, and all of one kind are one range of rows for the gradients of its weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/data/instances.h"

namespace espalier::bench {

class PlanLayout {
 public:
  struct Group {
    std::int32_t kind = 0;
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t size() const { return end - begin; }
  };
  struct Row {
    const QueryPlan::Node* node = nullptr;
    std::int32_t parent = -1;  // its row; -1: the node is a root
    std::int32_t side = 0;     // 1: it is the right child
  };

  explicit PlanLayout(std::int32_t kinds) : kinds_(kinds), first_(static_cast<std::size_t>(kinds) + 1) {}

  void assign(const std::vector<QueryPlan>& plans, std::span<const std::int32_t> batch, std::int64_t lanes);

  std::span<const Row> rows() const { return rows_; }
  /// Rows of a kind are first(kind) to first(kind + 1) - 1.
  std::int32_t first(std::int32_t kind) const { return first_[static_cast<std::size_t>(kind)]; }
  /// The groups of a lane, children before parents.
  std::span<const Group> groups(std::int64_t lane) const { return groups_[static_cast<std::size_t>(lane)]; }

 private:
  void measure(const std::vector<QueryPlan>& plans, std::span<const std::int32_t> batch, std::int64_t lanes);
  void number_groups(std::int64_t lanes);
  void place(const QueryPlan& plan, const std::int32_t* heights, std::int32_t* next);

  std::int32_t kinds_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> first_;
  std::vector<std::vector<Group>> groups_;

  // While it is made.
  std::vector<std::int32_t> lane_ends_;            // numbers in the batch
  std::vector<std::int32_t> heights_;              // of all nodes, plan after plan
  std::vector<std::vector<std::int32_t>> counts_;  // by lane, height, kind; then the next row of each
  std::vector<std::int32_t> row_of_node_;          // of one plan
};

}  // namespace espalier::bench
