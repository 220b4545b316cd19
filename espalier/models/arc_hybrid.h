/// ArcHybrid: the transition system of Kuhlmann, Gomez-Rodriguez and Satta (2011) for dependency trees, with the costs
/// of its moves by Goldberg and Nivre (2013).
///
/// Words have the numbers 1 to n; the root is n + 1, behind the last word. A parse makes 2 n moves and gives a tree
/// with one word below the root.
///
/// Thread safety: like a std::vector.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::models {

class ESPALIER_EXPORT ArcHybrid {
 public:
  enum Move : std::int32_t {
    kShift,  // the first word of the buffer goes to the stack
    kLeft,   // the top of the stack is a dependent of the first of the buffer
    kRight,  // the top of the stack is a dependent of the one below it
  };
  static constexpr std::int32_t kMoves = 3;

  explicit ArcHybrid(std::int32_t words);

  std::int32_t words() const { return root_ - 1; }
  std::int32_t root() const { return root_; }
  bool is_done() const { return stack_.empty() && front_ == root_; }
  bool allows(Move move) const;
  /// Refuses (UsageError) a move that is not allowed. `label` is that of the new dependent.
  void make(Move move, std::int32_t label = 0);

  /// The k-th word from the top of the stack, k = 0 for the top; 0 if there is none.
  std::int32_t top(std::size_t k) const { return k < stack_.size() ? stack_[stack_.size() - 1 - k] : 0; }
  /// The first of the buffer; the root at last.
  std::int32_t front() const { return front_; }
  /// The head and the label of the word that a move makes a dependent, as an arc; of kShift none (0).
  std::int32_t dependent(Move move) const { return move == kShift ? 0 : top(0); }
  std::int32_t head(Move move) const { return move == kShift ? 0 : move == kLeft ? front_ : top(1); }

  /// How many arcs of a tree, heads[w] for w = 1 to n, can be made before a move and cannot after it. Exact for a
  /// projective tree.
  std::int32_t cost(Move move, std::span<const std::int32_t> heads) const;

  /// So far, for w = 1 to n; 0: none yet.
  std::span<const std::int32_t> heads() const { return heads_; }
  std::span<const std::int32_t> labels() const { return labels_; }

 private:
  std::int32_t root_;
  std::int32_t front_ = 1;
  std::vector<std::int32_t> stack_;
  std::vector<std::int32_t> heads_;
  std::vector<std::int32_t> labels_;
};

/// The move of the static oracle: one that makes an arc of the tree, as soon as that loses no other; else a shift.
/// Makes a projective tree.
ESPALIER_EXPORT ArcHybrid::Move oracle_move(const ArcHybrid& state, std::span<const std::int32_t> heads);

/// Whether no arc of a tree crosses another. heads[w] for w = 1 to n, n + 1 for the root; heads[0] is not read.
ESPALIER_EXPORT bool is_projective(std::span<const std::int32_t> heads);
/// Makes a tree projective: again and again, the shortest arc with a word between its ends that does not descend from
/// its head gets the head of its head instead (Nivre and Nilsson, 2005, without their labels).
ESPALIER_EXPORT std::vector<std::int32_t> made_projective(std::span<const std::int32_t> heads);

}  // namespace espalier::models
