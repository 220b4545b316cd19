/// The pieces of memory of a plan: which rows lie in them, what is copied there, how long they live, and where they
/// are.
#include <algorithm>
#include <utility>

#include "espalier/plan/planner.h"

namespace espalier::plan {

/// A product writes evenly spaced rows: all of them into one block, in its order, or none.
void Planner::leave_even(std::int32_t t) {
  const std::span<Home> homes(homes_ + begin(t), homes_ + end(t));
  const Home first = homes[0];
  bool even = true;
  for (std::size_t r = 1; r < homes.size() && even; ++r)
    even = homes[r] == (first.is_given() ? Home(first.slot(), first.row() + static_cast<std::int32_t>(r)) : first);
  if (!even) std::fill(homes.begin(), homes.end(), Home::nowhere());
}

/// Blocks of one signature and operand lie one after the other over all steps, so that the gradient of the weights is
/// one product; where values are freed, each has memory of its own.
std::int32_t Planner::open_piece(std::int32_t step, std::int32_t block) {
  const Opened& first = opened_[opened_[block].first];
  std::int32_t& piece = piece_of_[at(opened_[block].first)];
  if (piece != kNone) return piece;
  const std::int32_t group =
      problem_.lifetime == Lifetime::kFinish ? Piece::kNoGroup : step_[step].signature * kGroups + first.operand;
  piece = new_piece(first.row_bytes * (end(step) - begin(step)), group, Piece::kNoGroup);
  return piece;
}

/// Gives those without a home a row of `slot`; returns how many.
std::int32_t Planner::count_rows(std::int32_t t, std::int32_t slot) {
  std::int32_t own = 0;
  for (std::int32_t p = begin(t); p < end(t); ++p) {
    Home& home = homes_[p];
    if (home.is_given()) {
      Opened& block = opened_[home.slot()];
      ++block.homed;
      is_homed_[at(block.begin + home.row())] = 1;
    } else if (!home.is_inside()) {
      home = Home(slot, own);
      own += problem_.rows_of(plan_.order[at(p)]);
    }
  }
  return own;
}

/// Finds whether most rows of a signature's blocks have their home there.
void Planner::count_homed() {
  more_homed_.assign(problem_.facts.size(), 0);
  for (std::int32_t t = 0; t < steps_; ++t)
    for (std::int32_t b = step_[t].first_block; b < step_[t + 1].first_block; ++b)
      more_homed_[at(step_[t].signature)] += 2 * opened_[b].homed - (end(t) - begin(t));
}

/// Whether a step whose kernel takes rows from wherever they lie has blocks all the same: where most other steps have
/// them, the gradient of the weights would else gather the rows of them all.
bool Planner::completes_blocks(std::int32_t t) const {
  return problem_.lifetime == Lifetime::kTraining && facts_of_step(t).gathers &&
         more_homed_[at(step_[t].signature)] > 0;
}

void Planner::make_pieces() {
  const std::int32_t blocks = step_[steps_].first_block;
  for (std::int32_t t = 0; t < steps_; ++t) {
    if (facts_of_step(t).is_product && end(t) - begin(t) > 1) leave_even(t);
    step_[t].own = count_rows(t, blocks + t);
  }
  count_homed();
  std::size_t homed = 0;
  for (std::int32_t t = 0; t < steps_; ++t) {
    for (std::int32_t b = step_[t].first_block; b < step_[t + 1].first_block; ++b) {
      if (opened_[b].homed > 0 || completes_blocks(t)) open_piece(t, b);
      homed += at(opened_[b].homed);
    }
    for (std::int32_t b = step_[t].first_block; b < step_[t + 1].first_block; ++b)
      piece_of_[at(b)] = piece_of_[at(opened_[b].first)];
    const Facts& f = facts_of_step(t);
    if (step_[t].own > 0)
      piece_of_[at(blocks + t)] =
          new_piece(f.row_bytes * step_[t].own, Piece::kNoGroup, f.defers ? step_[t].signature : Piece::kNoGroup);
    if (f.further_bytes > 0)
      plan_.further[at(t)] = new_piece(f.further_bytes * rows_of_step(t), Piece::kNoGroup, Piece::kNoGroup);
  }
  plan_.copies.reserve(is_homed_.size() - homed);
}

inline void Planner::extend(Piece& piece, std::int32_t v, const Facts& f) const {
  const bool is_output = (problem_.is_output[at(v)] & Problem::kOutput) != 0;
  const std::int32_t step = nodes_[v].step;
  const std::int32_t last = std::max(step, last_use_[v]);
  const bool is_kept = f.keeps_output || (nodes_[v].flags & Node::kKept) != 0;
  piece.extend(step, stays(is_output, is_kept) ? steps_ : last);
  // A step with shared operands gives those their gradient at the end. Outputs may get theirs at the beginning.
  piece.extend_gradient(f.defers ? kNone : step, is_output ? steps_ : last);
}

inline void Planner::extend_further(std::int32_t v, const Facts& f) const {
  const bool is_output = (problem_.is_output[at(v)] & Problem::kFurtherOutput) != 0;
  const std::int32_t step = nodes_[v].step;
  const std::int32_t last = std::max(step, last_use_[v]);
  const bool is_kept = f.keeps_further || (nodes_[v].flags & Node::kFurtherKept) != 0;
  Piece& piece = pieces_[plan_.further[at(step)]];
  piece.extend(step, stays(is_output, is_kept) ? steps_ : last);
  piece.extend_gradient(step, is_output ? steps_ : last);
}

void Planner::fill_places() {
  constexpr std::int32_t kAhead = 16;
  plan_.piece.resize(at(size_));
  plan_.within.resize(at(size_));
  plan_.inside.assign(at(size_), kNone);
  for (std::int32_t v = 0; v < size_; ++v) {
    if (v + kAhead < size_) __builtin_prefetch(homes_ + nodes_[v + kAhead].position);
    const Home home = homes_[nodes_[v].position];
    if (home.is_inside()) continue;
    const Facts& f = facts(v);
    const std::int32_t piece = piece_of_[at(home.slot())];
    plan_.piece[at(v)] = piece;
    const bool is_own = home.slot() >= step_[steps_].first_block;
    const Opened* const block = is_own ? nullptr : &opened_[home.slot()];
    plan_.within[at(v)] = is_own ? home.row() * f.row_bytes : home.row() * block->row_bytes + block->before;
    extend(pieces_[piece], v, f);
    if (f.further_bytes > 0) extend_further(v, f);
  }
  for (const Column& column : columns_) {
    const std::int32_t piece = plan_.piece[at(column.whole)];
    plan_.piece[at(column.node)] = piece;
    plan_.within[at(column.node)] = plan_.within[at(column.whole)] + column.bytes;
    plan_.inside[at(column.node)] = column.whole;
    const Facts& f = facts(column.node);
    extend(pieces_[piece], column.node, f);
    if (f.further_bytes > 0) extend_further(column.node, f);
  }
}

/// Whether the operands lie evenly spaced where they are.
bool Planner::lie_evenly(std::int32_t step, std::int32_t operand) const {
  if (end(step) - begin(step) == 1) return problem_.lifetime != Lifetime::kTraining;
  std::int64_t stride = 0;
  std::int32_t before = kNone;
  for (std::int32_t p = begin(step); p < end(step); ++p) {
    const std::size_t i = at(inputs_[p].begin + operand);
    const std::int32_t u = problem_.inputs[i];
    if (u < 0 || problem_.is_part[i] != 0) return false;
    if (before >= 0) {
      const std::int64_t distance = plan_.within[at(u)] - plan_.within[at(before)];
      if (stride == 0) stride = distance;
      if (plan_.piece[at(u)] != plan_.piece[at(before)] || distance != stride || stride < facts(u).row_bytes)
        return false;
    }
    before = u;
  }
  return true;
}

void Planner::fill_block(std::int32_t step, std::int32_t block) {
  const auto [operand, homed, is_homed, first, before, row_bytes] = opened_[block];
  const std::int32_t rows = end(step) - begin(step);
  const std::size_t copied = plan_.copies.size();
  if (homed < rows)
    for (std::int32_t r = 0; r < rows; ++r)
      if (is_homed_[at(is_homed + r)] == 0) plan_.copies.push_back(r);
  plan_.blocks.push_back({operand, piece_of_[at(block)], before, row_bytes, static_cast<std::int32_t>(copied),
                          static_cast<std::int32_t>(plan_.copies.size())});
  if (homed < rows) plan_.copied_bytes += operand_bytes(step, operand) * (rows - homed);
  Piece& piece = pieces_[piece_of_[at(block)]];
  piece.extend(step, stays(false, has(facts_of_step(step).keeps_inputs, at(operand))) ? steps_ : step);
  piece.extend_gradient(step, step);
}

/// Decides which blocks there are after all, and what is copied into them.
void Planner::fill_blocks() {
  plan_.block_begin.resize(at(steps_) + 1);
  plan_.blocks.reserve(at(step_[steps_].first_block));
  for (std::int32_t t = 0; t < steps_; ++t) {
    plan_.block_begin[at(t)] = static_cast<std::int32_t>(plan_.blocks.size());
    for (std::int32_t b = step_[t].first_block; b < step_[t + 1].first_block; ++b) {
      if (piece_of_[at(b)] == kNone) {
        if (facts_of_step(t).gathers || lie_evenly(t, opened_[b].operand)) continue;
        piece_of_[at(b)] = open_piece(t, b);
      }
      fill_block(t, b);
    }
  }
  plan_.block_begin[at(steps_)] = static_cast<std::int32_t>(plan_.blocks.size());
}

/// What forward leaves for backward, and backward for the gradients of weights, of all steps of a signature one after
/// the other.
void Planner::open_saved() {
  const auto leaves = [](const Facts& f) { return f.saved_bytes > 0 || f.deferred_bytes > 0; };
  if (std::none_of(problem_.facts.begin(), problem_.facts.end(), leaves)) return;
  const bool is_last_run = problem_.lifetime == Lifetime::kFinish;
  for (std::int32_t t = 0; t < steps_; ++t) {
    const Facts& f = facts_of_step(t);
    const std::int32_t rows = rows_of_step(t);
    if (f.saved_bytes > 0 && !(is_last_run && f.saves_for_backward_only)) {
      saved_.push_back({.bytes = f.saved_bytes * rows});
      if (!is_last_run) saved_.back().value_group = step_[t].signature * kGroups + kSavedGroup;
      saved_.back().extend(t, is_last_run ? t : steps_);
    }
    if (f.deferred_bytes > 0 && !is_last_run) {
      deferred_.push_back({.bytes = f.deferred_bytes * rows});
      deferred_.back().gradient_group = static_cast<std::int32_t>(problem_.facts.size()) + step_[t].signature;
      deferred_.back().extend_gradient(kNone, t);
    }
  }
}

/// By step, where the places of `pieces` are; theirs are taken from the end of the layout.
std::vector<std::int64_t> Planner::by_step(std::vector<std::int64_t>& at_all, std::size_t before,
                                           std::span<const Piece> pieces, std::int32_t Piece::*step) const {
  std::vector<std::int64_t> result(at(steps_), -1);
  for (std::size_t i = 0; i < pieces.size(); ++i) result[at(pieces[i].*step)] = at_all[before + i];
  at_all.resize(before);
  return result;
}

void Planner::place_all() {
  open_saved();
  const std::span<const Piece> pieces(pieces_, at(piece_count_));
  plan_.values = work_.placement.place_values(pieces, saved_);
  plan_.saved_at = by_step(plan_.values.at, pieces.size(), saved_, &Piece::first);
  plan_.lasts.resize(at(size_));
  for (std::size_t v = 0; v < plan_.lasts.size(); ++v) plan_.lasts[v] = pieces_[plan_.piece[v]].last == steps_ ? 1 : 0;
  plan_.further_lasts.assign(at(steps_), 0);
  for (std::int32_t t = 0; t < steps_; ++t)
    if (const std::int32_t piece = plan_.further[at(t)]; piece != kNone)
      plan_.further_lasts[at(t)] = pieces_[piece].last == steps_ ? 1 : 0;
  if (problem_.lifetime == Lifetime::kFinish) return;
  work_.placement.place_gradients(pieces, deferred_, plan_);
  for (Layout* layout : {&plan_.gradients, &plan_.all_gradients})
    layout->deferred_at = by_step(layout->at, pieces.size(), deferred_, &Piece::last_gradient);
}

}  // namespace espalier::plan
