#include "bench/limit/tree_layout.h"

#include <algorithm>
#include <cstddef>

#include "espalier/base/at.h"

namespace espalier::bench {

void TreeLayout::assign(const std::vector<BinaryTree>& trees, std::span<const std::int32_t> batch, std::int64_t lanes) {
  roots_ = static_cast<std::int32_t>(batch.size());
  measure(trees, batch, lanes);
  number_levels(lanes);
  inner_slots_.resize(at(inner_));
  labels_.resize(at(slots()));
  leaf_slots_.clear();
  leaf_words_.clear();
  std::size_t first = 0;
  for (std::int32_t i = 0, lane = 0; i < roots_; ++i) {
    while (i >= lane_ends_[at(lane)]) ++lane;
    const BinaryTree& tree = trees[at(batch[at(i)])];
    place(tree, std::span(heights_).subspan(first, tree.nodes.size()), of_height_[at(lane)], first_root() + i);
    first += tree.nodes.size();
  }
}

Preparing TreeLayout::preparing() const {
  Preparing preparing;
  for (const std::vector<Range>& levels : levels_)
    for (const Range level : levels) preparing.add(level.size());
  return preparing;
}

/// Heights of all nodes, and how many of each a lane has. Lanes get about the same number of nodes.
void TreeLayout::measure(const std::vector<BinaryTree>& trees, std::span<const std::int32_t> batch,
                         std::int64_t lanes) {
  std::size_t nodes = 0;
  for (const std::int32_t i : batch) nodes += trees[at(i)].nodes.size();
  heights_.resize(nodes);
  of_height_.resize(static_cast<std::size_t>(lanes));
  for (std::vector<std::int32_t>& counts : of_height_) std::fill(counts.begin(), counts.end(), 0);
  lane_ends_.assign(static_cast<std::size_t>(lanes), roots_);
  std::size_t done = 0;
  std::size_t lane = 0;
  for (std::int32_t i = 0; i < roots_; ++i) {
    const BinaryTree& tree = trees[at(batch[at(i)])];
    std::vector<std::int32_t>& counts = of_height_[lane];
    std::int32_t* height = heights_.data() + done;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      const BinaryTree::Node& node = tree.nodes[n];
      height[n] = node.is_leaf() ? 0 : 1 + std::max(height[node.left], height[node.right]);
      if (at(height[n]) >= counts.size()) counts.resize(at(height[n]) + 1);
      ++counts[at(height[n])];
    }
    done += tree.nodes.size();
    if (lane + 1 < of_height_.size() && done * of_height_.size() >= nodes * (lane + 1)) lane_ends_[lane++] = i + 1;
  }
}

/// Makes ranges of the counts, and the counts into the first row of each.
void TreeLayout::number_levels(std::int64_t lanes) {
  levels_.resize(static_cast<std::size_t>(lanes));
  inner_ = 0;
  for (std::size_t lane = 0; lane < levels_.size(); ++lane) {
    levels_[lane].clear();
    std::vector<std::int32_t>& counts = of_height_[lane];
    for (std::size_t height = 1; height < counts.size(); ++height) {
      const std::int32_t count = counts[height];
      if (count > 0) levels_[lane].push_back({inner_, inner_ + count});
      counts[height] = inner_;
      inner_ += count;
    }
  }
}

void TreeLayout::place(const BinaryTree& tree, std::span<const std::int32_t> heights, std::span<std::int32_t> next,
                       std::int32_t root) {
  rows_.resize(tree.nodes.size());
  const auto put = [&](std::int32_t node, std::int32_t slot) {
    const BinaryTree::Node& child = tree.nodes[at(node)];
    labels_[at(slot)] = child.label;
    if (child.is_leaf()) {
      leaf_slots_.push_back(slot);
      leaf_words_.push_back(child.word);
    } else {
      inner_slots_[at(rows_[at(node)])] = slot;
    }
  };
  for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
    const BinaryTree::Node& node = tree.nodes[n];
    if (node.is_leaf()) continue;
    const std::int32_t row = next[at(heights[n])]++;
    rows_[n] = row;
    put(node.left, 2 * row);
    put(node.right, 2 * row + 1);
  }
  put(static_cast<std::int32_t>(tree.nodes.size()) - 1, root);
}

}  // namespace espalier::bench
