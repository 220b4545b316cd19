/// TreeLayout: where every node of a minibatch of binary trees has its rows.
///
/// An inner node has a row, its place among all inner nodes, which come by lane, then by height, so that one level of a
/// lane is one range of rows. Every node has a slot, too, where its state lies: slots 2r and 2r + 1 are those of the
/// children of the inner node in row r, so that the states of both are one operand; the roots' slots come last, in the
/// order of the minibatch. So nothing is ever gathered: a node writes its state where its parent reads it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/data/instances.h"
#include "bench/limit/preparing.h"

namespace espalier::bench {

struct Range {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t size() const { return end - begin; }
};

class TreeLayout {
 public:
  void assign(const std::vector<BinaryTree>& trees, std::span<const std::int32_t> batch, std::int64_t lanes);

  std::int32_t inner() const { return inner_; }
  std::int32_t leaves() const { return static_cast<std::int32_t>(leaf_slots_.size()); }
  std::int32_t roots() const { return roots_; }
  std::int32_t slots() const { return 2 * inner_ + roots_; }
  std::int32_t first_root() const { return 2 * inner_; }

  /// Ranges of inner nodes, by height.
  std::span<const Range> levels(std::int64_t lane) const { return levels_[static_cast<std::size_t>(lane)]; }
  /// Of one product a level.
  Preparing preparing() const;
  /// The slot of the inner node in a row.
  const std::int32_t* slot_of_inner() const { return inner_slots_.data(); }
  /// Of every leaf: its slot and its word.
  std::span<const std::int32_t> leaf_slots() const { return leaf_slots_; }
  std::span<const std::int32_t> leaf_words() const { return leaf_words_; }
  /// Of the node in a slot.
  std::span<const std::int32_t> labels() const { return labels_; }

 private:
  void measure(const std::vector<BinaryTree>& trees, std::span<const std::int32_t> batch, std::int64_t lanes);
  void number_levels(std::int64_t lanes);
  void place(const BinaryTree& tree, std::span<const std::int32_t> heights, std::span<std::int32_t> next,
             std::int32_t root);

  std::int32_t inner_ = 0;
  std::int32_t roots_ = 0;
  std::vector<std::vector<Range>> levels_;
  std::vector<std::int32_t> inner_slots_;
  std::vector<std::int32_t> leaf_slots_;
  std::vector<std::int32_t> leaf_words_;
  std::vector<std::int32_t> labels_;

  // While it is made.
  std::vector<std::int32_t> lane_ends_;               // numbers in the batch
  std::vector<std::int32_t> heights_;                 // of all nodes, tree after tree
  std::vector<std::vector<std::int32_t>> of_height_;  // how many, then the next row, by lane
  std::vector<std::int32_t> rows_;                    // of the nodes of one tree
};

}  // namespace espalier::bench
