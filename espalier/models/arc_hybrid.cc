#include "espalier/models/arc_hybrid.h"

#include <algorithm>
#include <cstdlib>

#include "espalier/base/error.h"

namespace espalier::models {
namespace {

std::int32_t head_of(std::span<const std::int32_t> heads, std::int32_t word) {
  return heads[static_cast<std::size_t>(word)];
}

/// Whether all words between a word and its head descend from the head.
bool is_projective_arc(std::span<const std::int32_t> heads, std::int32_t word) {
  const auto root = static_cast<std::int32_t>(heads.size());
  const std::int32_t head = head_of(heads, word);
  for (std::int32_t w = std::min(word, head) + 1; w < std::max(word, head); ++w) {
    std::int32_t above = w;
    while (above != root && above != head) above = head_of(heads, above);
    if (above != head) return false;
  }
  return true;
}

}  // namespace

ArcHybrid::ArcHybrid(std::int32_t words)
    : root_(words + 1),
      heads_(static_cast<std::size_t>(words) + 1, 0),
      labels_(static_cast<std::size_t>(words) + 1, 0) {
  if (words < 1) throw UsageError("parser: a sentence has no words");
  stack_.reserve(static_cast<std::size_t>(words));
}

bool ArcHybrid::allows(Move move) const {
  if (move == kShift) return front_ < root_;
  if (move == kRight) return stack_.size() >= 2;
  return front_ < root_ ? !stack_.empty() : stack_.size() == 1;  // one word below the root
}

void ArcHybrid::make(Move move, std::int32_t label) {
  if (!allows(move)) throw UsageError("parser: a move is not allowed here");
  if (move == kShift) {
    stack_.push_back(front_++);
    return;
  }
  heads_[static_cast<std::size_t>(dependent(move))] = head(move);
  labels_[static_cast<std::size_t>(dependent(move))] = label;
  stack_.pop_back();
}

std::int32_t ArcHybrid::cost(Move move, std::span<const std::int32_t> heads) const {
  std::int32_t lost = 0;
  if (move == kShift) {
    // The stack but its top cannot be the head of the first word any more, and nothing there its dependent.
    for (std::size_t k = 0; k < stack_.size(); ++k) {
      const std::int32_t word = top(k);
      lost += (k > 0 && head_of(heads, front_) == word ? 1 : 0) + (head_of(heads, word) == front_ ? 1 : 0);
    }
    return lost;
  }
  const std::int32_t word = top(0);
  const std::int32_t gold = head_of(heads, word);
  for (std::int32_t w = front_; w < root_; ++w) lost += head_of(heads, w) == word ? 1 : 0;
  const bool is_in_buffer = gold >= front_;
  if (move == kLeft) return lost + ((is_in_buffer && gold != front_) || (gold != 0 && gold == top(1)) ? 1 : 0);
  return lost + (is_in_buffer ? 1 : 0);
}

ArcHybrid::Move oracle_move(const ArcHybrid& state, std::span<const std::int32_t> heads) {
  for (const ArcHybrid::Move move : {ArcHybrid::kLeft, ArcHybrid::kRight}) {
    if (!state.allows(move) || head_of(heads, state.dependent(move)) != state.head(move)) continue;
    if (state.cost(move, heads) == 0) return move;
  }
  return ArcHybrid::kShift;
}

bool is_projective(std::span<const std::int32_t> heads) {
  for (std::int32_t word = 1; word < static_cast<std::int32_t>(heads.size()); ++word)
    if (!is_projective_arc(heads, word)) return false;
  return true;
}

std::vector<std::int32_t> made_projective(std::span<const std::int32_t> heads) {
  std::vector<std::int32_t> lifted(heads.begin(), heads.end());
  const auto root = static_cast<std::int32_t>(heads.size());
  for (;;) {
    std::int32_t shortest = 0;
    for (std::int32_t word = 1; word < root; ++word) {
      if (is_projective_arc(lifted, word)) continue;
      const auto length = [&](std::int32_t w) { return std::abs(head_of(lifted, w) - w); };
      if (shortest == 0 || length(word) < length(shortest)) shortest = word;
    }
    if (shortest == 0) return lifted;
    std::int32_t& head = lifted[static_cast<std::size_t>(shortest)];
    head = head_of(lifted, head);
  }
}

}  // namespace espalier::models
