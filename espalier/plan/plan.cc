#include "espalier/plan/plan.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "espalier/base/at.h"
#include "espalier/plan/workspace.h"

namespace espalier::plan {
namespace {

constexpr std::int32_t kNone = -1;
/// Pieces of one signature that lie one after the other: those of each operand's block, and what forward saves.
constexpr std::int32_t kGroups = 32;
constexpr std::int32_t kSavedGroup = kGroups - 1;

/// A bit of a mask over operands; operands beyond the last bit share it.
bool has(std::uint32_t mask, std::size_t operand) { return (mask >> std::min<std::size_t>(operand, 31) & 1U) != 0; }

class Planner {
 public:
  Planner(const Problem& problem, const batch::Schedule& schedule, Workspace& work, Plan spare)
      : problem_(problem),
        schedule_(schedule),
        size_(problem.size()),
        steps_(static_cast<std::int32_t>(schedule.steps())),
        plan_(std::move(spare)),
        nodes_(work.nodes.room(at(size_))),
        homes_(work.homes.room(at(size_))),
        inputs_(work.inputs.room(at(size_))),
        step_(work.steps.room(at(steps_) + 1)),
        step_of_(work.step_of.room(at(size_))),
        last_use_(work.last_use.room(at(size_))),
        opened_(work.opened.room(problem.inputs.size())),
        is_homed_(work.is_homed),
        more_homed_(work.more_homed),
        piece_of_(work.piece_of),
        columns_(work.columns),
        saved_(work.saved),
        deferred_(work.deferred),
        work_(work) {
    columns_.clear();
    saved_.clear();
    deferred_.clear();
    plan_.blocks.clear();
    plan_.copies.clear();
    plan_.copied_bytes = 0;
    plan_.computing_steps = 0;
    plan_.gradients = {};
    plan_.all_gradients = {};
    plan_.step_begin = schedule.step_begin;
    plan_.bound = schedule.bound;
    plan_.bound_is_exact = schedule.bound_is_exact;
    plan_.forced = schedule.forced;
  }

  Plan make() {
    open_steps();
    find_uses();
    order_rows();
    take_columns();
    make_pieces();
    fill_places();
    fill_blocks();
    place_all();
    return std::move(plan_);
  }

 private:
  const Facts& facts(std::int32_t node) const { return problem_.facts[at(problem_.signature[at(node)])]; }
  const Facts& facts_of_step(std::int32_t step) const { return problem_.facts[at(step_[step].signature)]; }
  std::int32_t begin(std::int32_t step) const { return plan_.step_begin[at(step)]; }
  std::int32_t end(std::int32_t step) const { return plan_.step_begin[at(step) + 1]; }
  std::int32_t rows_of_step(std::int32_t step) const {
    if (problem_.rows.empty()) return end(step) - begin(step);
    std::int32_t rows = 0;
    for (std::int32_t p = begin(step); p < end(step); ++p) rows += problem_.rows_of(schedule_.order[at(p)]);
    return rows;
  }

  /// Opens the blocks of all steps: which of them stay is known at the end.
  void open_steps() {
    const std::int32_t* const order = schedule_.order.data();
    std::int32_t blocks = 0;
    std::int32_t further = 0;
    std::int32_t rows = 0;
    for (std::int32_t t = 0; t < steps_; ++t) {
      const std::int32_t signature = problem_.signature[at(order[begin(t)])];
      step_[t] = {signature, blocks, begin(t), 0, false};
      const Facts& f = problem_.facts[at(signature)];
      if (f.result == 0) ++plan_.computing_steps;
      further += f.further;
      for (std::uint32_t left = f.blocks; left != 0; left &= left - 1) {
        const std::int32_t operand = std::countr_zero(left);
        const BlockColumn column = problem_.column(signature, operand);
        std::int32_t first = step_[t].first_block;
        while (first < blocks && opened_[first].operand != column.first) ++first;
        opened_[blocks++] = {operand, 0, rows, first, column.before, column.row_bytes};
        rows += end(t) - begin(t);
      }
      for (std::int32_t p = begin(t); p < end(t); ++p) step_of_[order[p]] = t;
    }
    step_[steps_].first_block = blocks;
    std::vector<std::int32_t> signature_rows(problem_.facts.size(), 0);
    for (std::int32_t t = 0; t < steps_; ++t) signature_rows[at(step_[t].signature)] += rows_of_step(t);
    plan_.signature_rows.resize(at(steps_));
    for (std::int32_t t = 0; t < steps_; ++t) plan_.signature_rows[at(t)] = signature_rows[at(step_[t].signature)];
    is_homed_.assign(at(rows), 0);
    piece_of_.assign(at(blocks + steps_), kNone);
    pieces_ = work_.pieces.room(at(blocks + steps_ + further));
    plan_.further.assign(at(steps_), kNone);
  }

  /// Without branches where they would be as random as the graph.
  void find_uses() {
    const std::int32_t* const inputs = problem_.inputs.data();
    const std::uint8_t* const is_part = problem_.is_part.data();
    std::int32_t first = problem_.input_begin[0];
    for (std::int32_t v = 0; v < size_; ++v) {
      const std::int32_t step = step_of_[v];
      const std::int32_t last = problem_.input_begin[at(v) + 1];
      nodes_[v] = {Home::nowhere(), {first, last}, step, Node::kNever, kNone, 0};
      last_use_[v] = kNone;
      const std::uint32_t kept = facts(v).keeps_inputs;
      for (std::int32_t i = first; i < last; ++i) {
        const std::int32_t u = inputs[i];
        if (u < 0) continue;
        Node& operand = nodes_[u];
        operand.first_use = std::min(operand.first_use, step);
        last_use_[u] = std::max(last_use_[u], step);
        const std::int32_t keeps = (is_part[i] & Problem::kFurther) != 0 ? Node::kFurtherKept : Node::kKept;
        operand.flags |=
            (has(kept, at(i - first)) ? keeps : 0) | ((is_part[i] & Problem::kPart) != 0 ? Node::kHasParts : 0);
      }
      first = last;
    }
    for (std::int32_t v = 0; v < size_; ++v) step_[std::min(nodes_[v].first_use, steps_)].has_firsts = true;
  }

  void append(std::int32_t v, Node& node) {
    node.position = step_[node.step].next++;
    plan_.order[at(node.position)] = v;
    homes_[node.position] = node.home;
    inputs_[node.position] = node.inputs;
  }

  /// Also finds homes on the way.
  void order_rows() {
    if (steps_ == size_) return keep_order();
    plan_.order.resize(at(size_));
    for (std::int32_t t = steps_ - 1; t >= 0; --t) {
      append_unused(t);
      if (!step_[t].has_firsts && facts_of_step(t).blocks == 0) continue;
      sweep(t);
    }
  }

  /// One node a step.
  void keep_order() {
    plan_.order = schedule_.order;
    for (std::int32_t p = 0; p < size_; ++p) {
      Node& node = nodes_[plan_.order[at(p)]];
      node.position = p;
      inputs_[p] = node.inputs;
      homes_[p] = Home::nowhere();
      std::int32_t block = step_[p].first_block;
      std::int32_t i = node.inputs.begin;
      for (std::uint32_t left = facts_of_step(p).blocks; left != 0; left >>= 1, ++i) {
        if ((left & 1U) == 0) continue;
        const Home home(block++, 0);
        const std::int32_t u = problem_.inputs[at(i)];
        if (u >= 0 && problem_.is_part[at(i)] == 0 && home < homes_[nodes_[u].position])
          homes_[nodes_[u].position] = home;
      }
    }
  }

  /// All others are there when the sweep comes to their step.
  void append_unused(std::int32_t t) {
    if (step_[t].next == end(t)) return;
    for (std::int32_t v : schedule_.step(t))
      if (nodes_[v].first_use == Node::kNever) append(v, nodes_[v]);
  }

  void sweep(std::int32_t t) {
    constexpr std::int32_t kAhead = 12;
    const std::uint32_t blocks = facts_of_step(t).blocks;
    const std::int32_t first_block = step_[t].first_block;
    const std::int32_t* const inputs = problem_.inputs.data();
    const std::int32_t stop = end(t);
    for (std::int32_t p = begin(t); p < stop; ++p) {
      // What is met is far apart in large graphs: it is asked for before it is needed.
      if (p + 2 * kAhead < stop) __builtin_prefetch(inputs + inputs_[p + 2 * kAhead].begin);
      if (p + kAhead < stop) {
        const Range later = inputs_[p + kAhead];
        for (std::int32_t i = later.begin; i < std::min(later.end, later.begin + 2); ++i)
          __builtin_prefetch(nodes_ + std::max(inputs[i], 0), 1);
      }
      const Range own = inputs_[p];
      std::int32_t block = first_block;
      std::uint32_t left = blocks;
      for (std::int32_t i = own.begin; i < own.end; ++i, left >>= 1) {
        const std::int32_t this_block = block;
        block += static_cast<std::int32_t>(left & 1U);
        const std::int32_t u = inputs[i];
        if (u < 0) continue;
        Node& operand = nodes_[u];
        if ((left & 1U) != 0 && problem_.is_part[at(i)] == 0) {
          operand.home = std::min(operand.home, Home(this_block, p - begin(t)));
          if (operand.position != kNone) homes_[operand.position] = operand.home;
        }
        if (operand.first_use == t && operand.position == kNone) append(u, operand);
      }
    }
  }

  /// Steps in the order of time, so that the first consumer has the first say. Products are not written into columns:
  /// their rows would not be evenly spaced. What has parts itself stays whole.
  void take_columns() {
    if (std::none_of(problem_.facts.begin(), problem_.facts.end(), [](const Facts& f) { return f.side_by_side; }))
      return;
    for (std::int32_t t = 0; t < steps_; ++t)
      if (facts_of_step(t).side_by_side)
        for (std::int32_t p = begin(t); p < end(t); ++p) take_columns_of(t, p);
  }

  void take_columns_of(std::int32_t step, std::int32_t position) {
    const std::int32_t v = plan_.order[at(position)];
    std::int64_t column = 0;
    std::int32_t i = inputs_[position].begin;
    for (std::int64_t bytes : problem_.operand_bytes[at(step_[step].signature)]) {
      const std::int64_t before = column;
      column += bytes;
      const bool is_part = problem_.is_part[at(i)] != 0;
      const std::int32_t u = problem_.inputs[at(i++)];
      if (u < 0 || is_part || (nodes_[u].flags & Node::kHasParts) != 0 || facts(u).is_product) continue;
      Home& home = homes_[nodes_[u].position];
      if (home.is_inside() || (home.is_given() && home.slot() < step_[step].first_block)) continue;
      home = Home::inside();
      columns_.push_back({u, v, before});
      nodes_[v].flags |= Node::kHasParts;
    }
  }

  /// A product writes evenly spaced rows: all of them into one block, in its order, or none.
  void leave_even(std::int32_t t) {
    const std::span<Home> homes(homes_ + begin(t), homes_ + end(t));
    const Home first = homes[0];
    bool even = true;
    for (std::size_t r = 1; r < homes.size() && even; ++r)
      even = homes[r] == (first.is_given() ? Home(first.slot(), first.row() + static_cast<std::int32_t>(r)) : first);
    if (!even) std::fill(homes.begin(), homes.end(), Home::nowhere());
  }

  std::int32_t new_piece(std::int64_t bytes, std::int32_t value_group, std::int32_t gradient_group) {
    pieces_[piece_count_] = {.bytes = bytes, .value_group = value_group, .gradient_group = gradient_group};
    return piece_count_++;
  }

  std::int64_t operand_bytes(std::int32_t step, std::int32_t operand) const {
    return problem_.operand_bytes[at(step_[step].signature)][at(operand)];
  }

  /// Blocks of one signature and operand lie one after the other over all steps, so that the gradient of the weights is
  /// one product; where values are freed, each has memory of its own.
  std::int32_t open_piece(std::int32_t step, std::int32_t block) {
    const Opened& first = opened_[opened_[block].first];
    std::int32_t& piece = piece_of_[at(opened_[block].first)];
    if (piece != kNone) return piece;
    const std::int32_t group =
        problem_.lifetime == Lifetime::kFinish ? Piece::kNoGroup : step_[step].signature * kGroups + first.operand;
    piece = new_piece(first.row_bytes * (end(step) - begin(step)), group, Piece::kNoGroup);
    return piece;
  }

  void make_pieces() {
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
      if (f.further > 0) plan_.further[at(t)] = piece_count_;
      for (std::int32_t k = 0; k < f.further; ++k)
        new_piece(f.further_bytes[at(k)] * (end(t) - begin(t)), Piece::kNoGroup, Piece::kNoGroup);
    }
    plan_.copies.reserve(is_homed_.size() - homed);
  }

  /// Finds whether most rows of a signature's blocks have their home there.
  void count_homed() {
    more_homed_.assign(problem_.facts.size(), 0);
    for (std::int32_t t = 0; t < steps_; ++t)
      for (std::int32_t b = step_[t].first_block; b < step_[t + 1].first_block; ++b)
        more_homed_[at(step_[t].signature)] += 2 * opened_[b].homed - (end(t) - begin(t));
  }
  /// Whether a step whose kernel takes rows from wherever they lie has blocks all the same: where most other steps have
  /// them, the gradient of the weights would else gather the rows of them all.
  bool completes_blocks(std::int32_t t) const {
    return problem_.lifetime == Lifetime::kTraining && facts_of_step(t).gathers &&
           more_homed_[at(step_[t].signature)] > 0;
  }

  /// Gives those without a home a row of `slot`; returns how many.
  std::int32_t count_rows(std::int32_t t, std::int32_t slot) {
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

  void fill_places() {
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
      for (std::int32_t k = 0; k < f.further; ++k) extend_further(v, f, k);
    }
    for (const Column& column : columns_) {
      const std::int32_t piece = plan_.piece[at(column.whole)];
      plan_.piece[at(column.node)] = piece;
      plan_.within[at(column.node)] = plan_.within[at(column.whole)] + column.bytes;
      plan_.inside[at(column.node)] = column.whole;
      const Facts& f = facts(column.node);
      extend(pieces_[piece], column.node, f);
      for (std::int32_t k = 0; k < f.further; ++k) extend_further(column.node, f, k);
    }
  }

  void extend_further(std::int32_t v, const Facts& f, std::int32_t k) const {
    const std::int32_t step = nodes_[v].step;
    const std::int32_t last = std::max(step, last_use_[v]);
    const bool is_kept = (f.keeps_further >> k & 1U) != 0 || (nodes_[v].flags & Node::kFurtherKept) != 0;
    const bool stays = problem_.lifetime == Lifetime::kAll || (problem_.lifetime == Lifetime::kTraining && is_kept);
    Piece& piece = pieces_[plan_.further[at(step)] + k];
    piece.extend(step, stays ? steps_ : last);
    piece.extend_gradient(step, last);
  }

  void extend(Piece& piece, std::int32_t v, const Facts& f) const {
    const bool is_output = problem_.is_output[at(v)] != 0;
    const std::int32_t step = nodes_[v].step - f.result;  // the step that computes it
    const std::int32_t last = std::max(step, last_use_[v]);
    const bool stays =
        is_output || problem_.lifetime == Lifetime::kAll ||
        (problem_.lifetime == Lifetime::kTraining && (f.keeps_output || (nodes_[v].flags & Node::kKept) != 0));
    piece.extend(step, stays ? steps_ : last);
    // A step with shared operands gives those their gradient at the end. Outputs may get theirs at the beginning.
    piece.extend_gradient(f.defers ? kNone : step, is_output ? steps_ : last);
  }

  /// Whether the operands lie evenly spaced where they are.
  bool lie_evenly(std::int32_t step, std::int32_t operand) const {
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

  /// Decides which blocks there are after all, and what is copied into them.
  void fill_blocks() {
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

  void fill_block(std::int32_t step, std::int32_t block) {
    const auto [operand, homed, is_homed, first, before, row_bytes] = opened_[block];
    const std::int32_t rows = end(step) - begin(step);
    const std::size_t copied = plan_.copies.size();
    if (homed < rows)
      for (std::int32_t r = 0; r < rows; ++r)
        if (is_homed_[at(is_homed + r)] == 0) plan_.copies.push_back(r);
    plan_.blocks.push_back({operand, piece_of_[at(block)], before, row_bytes, static_cast<std::int32_t>(copied),
                            static_cast<std::int32_t>(plan_.copies.size())});
    if (homed < rows) plan_.copied_bytes += operand_bytes(step, operand) * (rows - homed);
    const bool stays = problem_.lifetime == Lifetime::kAll ||
                       (problem_.lifetime == Lifetime::kTraining && has(facts_of_step(step).keeps_inputs, at(operand)));
    Piece& piece = pieces_[piece_of_[at(block)]];
    piece.extend(step, stays ? steps_ : step);
    piece.extend_gradient(step, step);
  }

  /// What forward leaves for backward, and backward for the gradients of weights, of all steps of a signature one after
  /// the other.
  void open_saved() {
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
  std::vector<std::int64_t> by_step(std::vector<std::int64_t>& at_all, std::size_t before,
                                    std::span<const Piece> pieces, std::int32_t Piece::*step) const {
    std::vector<std::int64_t> result(at(steps_), -1);
    for (std::size_t i = 0; i < pieces.size(); ++i) result[at(pieces[i].*step)] = at_all[before + i];
    at_all.resize(before);
    return result;
  }

  void place_all() {
    open_saved();
    const std::span<const Piece> pieces(pieces_, at(piece_count_));
    plan_.values = work_.placement.place_values(pieces, saved_);
    plan_.saved_at = by_step(plan_.values.at, pieces.size(), saved_, &Piece::first);
    plan_.lasts.resize(at(size_));
    for (std::size_t v = 0; v < plan_.lasts.size(); ++v)
      plan_.lasts[v] = pieces_[plan_.piece[v]].last == steps_ ? 1 : 0;
    plan_.lasting.assign(at(steps_), 0);
    for (std::int32_t t = 0; t < steps_; ++t)
      for (std::int32_t k = 0; k < facts_of_step(t).further; ++k)
        if (pieces_[plan_.further[at(t)] + k].last == steps_) plan_.lasting[at(t)] |= 1U << k;
    if (problem_.lifetime == Lifetime::kFinish) return;
    work_.placement.place_gradients(pieces, deferred_, plan_);
    for (Layout* layout : {&plan_.gradients, &plan_.all_gradients})
      layout->deferred_at = by_step(layout->at, pieces.size(), deferred_, &Piece::last_gradient);
  }

  const Problem& problem_;
  const batch::Schedule& schedule_;
  std::int32_t size_;
  std::int32_t steps_;
  Plan plan_;
  // Of the workspace.
  Node* nodes_;
  Home* homes_;    // by position in the order
  Range* inputs_;  // likewise
  Step* step_;
  std::int32_t* step_of_;   // by node
  std::int32_t* last_use_;  // by node: the step
  Opened* opened_;          // each has at least one operand of its own
  std::vector<std::uint8_t>& is_homed_;
  std::vector<std::int64_t>& more_homed_;  // by signature: rows of blocks with their home there, less those without
  std::vector<std::int32_t>& piece_of_;    // by slot
  std::vector<Column>& columns_;
  std::vector<Piece>& saved_;
  std::vector<Piece>& deferred_;
  Workspace& work_;
  Piece* pieces_ = nullptr;
  std::int32_t piece_count_ = 0;
};

}  // namespace

Plan make_plan(const Problem& problem, const batch::Schedule& schedule, Plan spare) {
  thread_local Workspace work;
  return Planner(problem, schedule, work, std::move(spare)).make();
}

}  // namespace espalier::plan
