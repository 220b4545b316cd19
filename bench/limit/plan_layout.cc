#include "bench/limit/plan_layout.h"

#include <algorithm>
#include <cstddef>

#include "espalier/base/at.h"

namespace espalier::bench {

void PlanLayout::assign(const std::vector<QueryPlan>& plans, std::span<const std::int32_t> batch, std::int64_t lanes) {
  measure(plans, batch, lanes);
  number_groups(lanes);
  rows_.resize(heights_.size());
  std::size_t done = 0;
  std::size_t lane = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    while (i >= at(lane_ends_[lane])) ++lane;
    const QueryPlan& plan = plans[at(batch[i])];
    place(plan, heights_.data() + done, counts_[lane].data());
    done += plan.nodes.size();
  }
}

/// Heights of all nodes, and how many of each height and kind a lane has. Lanes get about the same number of nodes.
void PlanLayout::measure(const std::vector<QueryPlan>& plans, std::span<const std::int32_t> batch, std::int64_t lanes) {
  std::size_t nodes = 0;
  for (const std::int32_t i : batch) nodes += plans[at(i)].nodes.size();
  heights_.resize(nodes);
  counts_.resize(static_cast<std::size_t>(lanes));
  for (std::vector<std::int32_t>& counts : counts_) counts.clear();
  lane_ends_.assign(counts_.size(), static_cast<std::int32_t>(batch.size()));
  std::size_t done = 0;
  std::size_t lane = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const QueryPlan& plan = plans[at(batch[i])];
    std::int32_t* height = heights_.data() + done;
    for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
      const QueryPlan::Node& node = plan.nodes[n];
      height[n] = 0;
      if (node.left >= 0) height[n] = height[node.left] + 1;
      if (node.right >= 0) height[n] = std::max(height[n], height[node.right] + 1);
      const std::size_t group = at(height[n] * kinds_ + node.kind);
      std::vector<std::int32_t>& counts = counts_[lane];
      if (group >= counts.size()) counts.resize(at((height[n] + 1) * kinds_));
      ++counts[group];
    }
    done += plan.nodes.size();
    if (lane + 1 < counts_.size() && done * counts_.size() >= nodes * (lane + 1))
      lane_ends_[lane++] = static_cast<std::int32_t>(i) + 1;
  }
}

/// Makes the counts into the first row of each group, and groups of those that are not empty.
void PlanLayout::number_groups(std::int64_t lanes) {
  groups_.resize(static_cast<std::size_t>(lanes));
  for (std::vector<Group>& groups : groups_) groups.clear();
  std::int32_t next = 0;
  for (std::int32_t kind = 0; kind < kinds_; ++kind) {
    first_[at(kind)] = next;
    for (std::vector<std::int32_t>& counts : counts_)
      for (std::size_t group = at(kind); group < counts.size(); group += at(kinds_)) {
        const std::int32_t count = counts[group];
        counts[group] = next;
        next += count;
      }
  }
  first_[at(kinds_)] = next;
  for (std::size_t lane = 0; lane < counts_.size(); ++lane) {
    const std::vector<std::int32_t>& begins = counts_[lane];
    for (std::size_t group = 0; group < begins.size(); ++group) {
      const std::int32_t kind = static_cast<std::int32_t>(group) % kinds_;
      std::int32_t end = first_[at(kind + 1)];
      if (group + at(kinds_) < begins.size())
        end = begins[group + at(kinds_)];
      else if (lane + 1 < counts_.size() && at(kind) < counts_[lane + 1].size())
        end = counts_[lane + 1][at(kind)];
      if (end > begins[group]) groups_[lane].push_back({kind, begins[group], end});
    }
  }
}

void PlanLayout::place(const QueryPlan& plan, const std::int32_t* heights, std::int32_t* next) {
  row_of_node_.resize(plan.nodes.size());
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const QueryPlan::Node& node = plan.nodes[n];
    const std::int32_t row = next[heights[n] * kinds_ + node.kind]++;
    row_of_node_[n] = row;
    rows_[at(row)] = {&node, -1, 0};
    if (node.left >= 0) rows_[at(row_of_node_[at(node.left)])].parent = row;
    if (node.right < 0) continue;
    Row& right = rows_[at(row_of_node_[at(node.right)])];
    right.parent = row;
    right.side = 1;
  }
}

}  // namespace espalier::bench
