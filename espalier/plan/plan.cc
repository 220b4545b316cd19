#include "espalier/plan/plan.h"

#include <algorithm>
#include <limits>

#include "espalier/plan/place.h"

namespace espalier::plan {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// A bit of a mask over operands; operands beyond the last bit share it.
bool has(std::uint32_t mask, std::size_t operand) { return (mask >> std::min<std::size_t>(operand, 31) & 1U) != 0; }

class Planner {
 public:
  Planner(const Problem& problem, const batch::Schedule& schedule)
      : problem_(problem), steps_(static_cast<std::int32_t>(schedule.steps())) {
    plan_.step_begin = schedule.step_begin;
    plan_.bound = schedule.bound;
    plan_.bound_is_exact = schedule.bound_is_exact;
    plan_.forced = schedule.forced;
  }

  Plan make(const batch::Schedule& schedule) {
    find_uses(schedule);
    order_rows(schedule);
    choose_homes();
    leave_products_even();
    make_pieces();
    fill_blocks();
    place_values();
    place_gradients();
    return std::move(plan_);
  }

 private:
  const Facts& facts(std::int32_t node) const { return problem_.facts[at(problem_.signature[at(node)])]; }
  const Facts& facts_of_step(std::int32_t step) const { return facts(plan_.order[at(plan_.step_begin[at(step)])]); }
  std::span<const std::int32_t> rows_of(std::int32_t step) const {
    return std::span<const std::int32_t>(plan_.order)
        .subspan(at(plan_.step_begin[at(step)]), at(plan_.step_begin[at(step) + 1] - plan_.step_begin[at(step)]));
  }

  void find_uses(const batch::Schedule& schedule) {
    const std::size_t n = at(problem_.size());
    step_of_.resize(n);
    for (std::int32_t t = 0; t < steps_; ++t)
      for (std::int32_t v : schedule.step(t)) step_of_[at(v)] = t;
    first_use_.assign(n, kNever);
    last_use_.assign(n, kNone);
    flags_.assign(n, 0);
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      const std::int32_t step = step_of_[at(v)];
      const std::uint32_t kept = facts(v).keeps_inputs;
      const std::size_t begin = at(problem_.input_begin[at(v)]);
      const std::size_t end = at(problem_.input_begin[at(v) + 1]);
      for (std::size_t i = begin; i < end; ++i) {
        const std::int32_t u = problem_.inputs[i];
        if (u < 0) continue;
        first_use_[at(u)] = std::min(first_use_[at(u)], step);
        last_use_[at(u)] = std::max(last_use_[at(u)], step);
        flags_[at(u)] |= static_cast<std::uint8_t>((has(kept, i - begin) ? kKept : 0) |
                                                   (problem_.is_part[i] != 0 ? kHasParts : 0));
      }
    }
  }

  void order_rows(const batch::Schedule& schedule) {
    plan_.order.resize(at(problem_.size()));
    std::vector<std::int32_t> next(plan_.step_begin.begin(), plan_.step_begin.end() - 1);
    const auto append = [&](std::int32_t v) {
      flags_[at(v)] |= kOrdered;
      plan_.order[at(next[at(step_of_[at(v)])]++)] = v;
    };
    for (std::int32_t t = steps_ - 1; t >= 0; --t) {
      for (std::int32_t v : schedule.step(t))
        if ((flags_[at(v)] & kOrdered) == 0) append(v);  // nobody uses it
      for (std::int32_t v : rows_of(t))
        for (std::int32_t i = problem_.input_begin[at(v)]; i < problem_.input_begin[at(v) + 1]; ++i) {
          const std::int32_t u = problem_.inputs[at(i)];
          if (u >= 0 && first_use_[at(u)] == t && (flags_[at(u)] & kOrdered) == 0) append(u);
        }
    }
  }

  /// Steps in the order of time, so that the first consumer has the first say.
  void choose_homes() {
    const std::size_t n = at(problem_.size());
    home_.assign(n, kNone);
    home_row_.resize(n);
    plan_.inside.assign(n, kNone);
    plan_.within.resize(n);
    plan_.block_begin.reserve(at(steps_) + 1);
    for (std::int32_t t = 0; t < steps_; ++t) {
      plan_.block_begin.push_back(static_cast<std::int32_t>(plan_.blocks.size()));
      const Facts& f = facts_of_step(t);
      if (f.side_by_side) take_inside(t);
      for (std::int32_t operand = 0; f.blocks >> operand != 0; ++operand)
        if (has(f.blocks, at(operand))) open_block(t, operand);
    }
    plan_.block_begin.push_back(static_cast<std::int32_t>(plan_.blocks.size()));
  }

  void open_block(std::int32_t step, std::int32_t operand) {
    const auto block = static_cast<std::int32_t>(plan_.blocks.size());
    plan_.blocks.push_back({.operand = operand, .piece = kNone});
    homed_.push_back(0);
    std::int32_t row = 0;
    for (std::int32_t v : rows_of(step)) {
      const std::size_t i = at(problem_.input_begin[at(v)] + operand);
      const std::int32_t u = problem_.inputs[i];
      if (u >= 0 && problem_.is_part[i] == 0 && home_[at(u)] < 0 && plan_.inside[at(u)] < 0) {
        home_[at(u)] = block;
        home_row_[at(u)] = row;
        ++homed_.back();
      }
      ++row;
    }
  }

  /// Products are not written into columns: their rows would not be evenly spaced. What has parts itself stays whole.
  void take_inside(std::int32_t step) {
    const std::vector<std::int64_t>& bytes = problem_.operand_bytes[at(problem_.signature[at(rows_of(step)[0])])];
    for (std::int32_t v : rows_of(step)) {
      std::int64_t column = 0;
      const std::size_t begin = at(problem_.input_begin[at(v)]);
      for (std::size_t k = 0; k < bytes.size(); column += bytes[k++]) {
        const std::int32_t u = problem_.inputs[begin + k];
        if (u < 0 || problem_.is_part[begin + k] != 0 || home_[at(u)] >= 0 || plan_.inside[at(u)] >= 0) continue;
        if ((flags_[at(u)] & kHasParts) != 0 || facts(u).is_product) continue;
        plan_.inside[at(u)] = v;
        plan_.within[at(u)] = column;
        flags_[at(v)] |= kHasParts;
      }
    }
  }

  /// A product writes evenly spaced rows: all of them into one block, in its order, or none.
  void leave_products_even() {
    for (std::int32_t t = 0; t < steps_; ++t) {
      if (!facts_of_step(t).is_product) continue;
      const std::span<const std::int32_t> rows = rows_of(t);
      bool even = true;
      for (std::size_t r = 0; r < rows.size() && even; ++r)
        even = home_[at(rows[r])] == home_[at(rows[0])] &&
               (home_[at(rows[r])] < 0 || home_row_[at(rows[r])] == home_row_[at(rows[0])] + static_cast<int>(r));
      if (even) continue;
      for (std::int32_t v : rows) {
        if (home_[at(v)] >= 0) --homed_[at(home_[at(v)])];
        home_[at(v)] = kNone;
      }
    }
  }

  std::int32_t new_piece(std::int64_t bytes, std::int32_t value_group, std::int32_t gradient_group) {
    pieces_.push_back({.bytes = bytes, .value_group = value_group, .gradient_group = gradient_group});
    return static_cast<std::int32_t>(pieces_.size()) - 1;
  }

  /// Blocks of one signature and operand lie one after the other over all steps, so that the gradient of the weights is
  /// one product; where values are freed, each has memory of its own.
  std::int32_t block_group(std::int32_t signature, std::int32_t operand) const {
    return problem_.lifetime == Lifetime::kFinish ? kNone : signature * 32 + operand;
  }

  std::int64_t block_row_bytes(std::int32_t step, std::int32_t operand) const {
    return problem_.operand_bytes[at(problem_.signature[at(rows_of(step)[0])])][at(operand)];
  }

  void open_piece(std::int32_t step, Block& block) {
    const std::int32_t signature = problem_.signature[at(rows_of(step)[0])];
    block.piece = new_piece(block_row_bytes(step, block.operand) * static_cast<std::int64_t>(rows_of(step).size()),
                            block_group(signature, block.operand), kNone);
  }

  void make_pieces() {
    plan_.piece.assign(at(problem_.size()), kNone);
    for (std::int32_t t = 0; t < steps_; ++t) {
      for (std::int32_t b = plan_.block_begin[at(t)]; b < plan_.block_begin[at(t) + 1]; ++b)
        if (homed_[at(b)] > 0) open_piece(t, plan_.blocks[at(b)]);
      const std::span<const std::int32_t> rows = rows_of(t);
      const Facts& f = facts(rows[0]);
      std::int64_t own = 0;
      std::int32_t piece = kNone;
      for (std::int32_t v : rows) {
        if (home_[at(v)] >= 0 || plan_.inside[at(v)] >= 0) continue;
        if (own == 0) piece = new_piece(0, kNone, f.defers ? problem_.signature[at(v)] : kNone);
        plan_.piece[at(v)] = piece;
        plan_.within[at(v)] = f.row_bytes * own++;
      }
      if (own > 0) pieces_[at(piece)].bytes = f.row_bytes * own;
    }
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      if (home_[at(v)] < 0) continue;
      plan_.piece[at(v)] = plan_.blocks[at(home_[at(v)])].piece;
      plan_.within[at(v)] = home_row_[at(v)] * facts(v).row_bytes;
    }
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      const std::int32_t whole = plan_.inside[at(v)];
      if (whole < 0) continue;
      plan_.piece[at(v)] = plan_.piece[at(whole)];
      plan_.within[at(v)] += plan_.within[at(whole)];
    }
  }

  /// Whether the operands lie evenly spaced where they are.
  bool lie_evenly(std::int32_t step, std::int32_t operand) const {
    const std::span<const std::int32_t> rows = rows_of(step);
    if (rows.size() == 1) return problem_.lifetime != Lifetime::kTraining;
    std::int64_t stride = 0;
    std::int32_t before = kNone;
    for (std::int32_t v : rows) {
      const std::size_t i = at(problem_.input_begin[at(v)] + operand);
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
    std::vector<Block> kept;
    std::int32_t begin = 0;
    for (std::int32_t t = 0; t < steps_; ++t) {
      const std::int32_t end = plan_.block_begin[at(t) + 1];
      plan_.block_begin[at(t)] = static_cast<std::int32_t>(kept.size());
      for (std::int32_t b = begin; b < end; ++b) {
        Block block = plan_.blocks[at(b)];
        if (homed_[at(b)] == 0) {
          if (lie_evenly(t, block.operand)) continue;
          open_piece(t, block);
        }
        block.copy_begin = static_cast<std::int32_t>(plan_.copies.size());
        const std::span<const std::int32_t> rows = rows_of(t);
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const std::size_t i = at(problem_.input_begin[at(rows[r])] + block.operand);
          const std::int32_t u = problem_.inputs[i];
          const bool is_there = u >= 0 && problem_.is_part[i] == 0 && home_[at(u)] == b &&
                                home_row_[at(u)] == static_cast<std::int32_t>(r);
          if (!is_there) plan_.copies.push_back(static_cast<std::int32_t>(r));
        }
        block.copy_end = static_cast<std::int32_t>(plan_.copies.size());
        plan_.copied_bytes += block_row_bytes(t, block.operand) * (block.copy_end - block.copy_begin);
        const bool lasts = problem_.lifetime != Lifetime::kFinish && has(facts(rows[0]).keeps_inputs, at(block.operand));
        pieces_[at(block.piece)].extend(t, lasts || problem_.lifetime == Lifetime::kAll ? steps_ : t);
        pieces_[at(block.piece)].extend_gradient(t, t);
        kept.push_back(block);
      }
      begin = end;
    }
    plan_.block_begin[at(steps_)] = static_cast<std::int32_t>(kept.size());
    plan_.blocks = std::move(kept);
  }

  /// The last step that reads the value of a node; beyond the last step if it is to stay.
  std::int32_t end_of(std::int32_t v) const {
    if (problem_.lifetime == Lifetime::kAll || problem_.is_output[at(v)] != 0) return steps_;
    if (problem_.lifetime == Lifetime::kTraining && (facts(v).keeps_output || (flags_[at(v)] & kKept) != 0))
      return steps_;
    return std::max(step_of_[at(v)], last_use_[at(v)]);
  }

  void place_values() {
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      Piece& piece = pieces_[at(plan_.piece[at(v)])];
      const std::int32_t step = step_of_[at(v)];
      piece.extend(step, end_of(v));
      // A step with shared operands gives those their gradient at the end. Outputs may get theirs at the beginning.
      piece.extend_gradient(facts(v).defers ? kNone : step,
                            problem_.is_output[at(v)] != 0 ? steps_ : std::max(step, last_use_[at(v)]));
    }
    const std::size_t pieces = pieces_.size();
    for (std::int32_t t = 0; t < steps_; ++t) {  // what is saved comes behind, a piece a step
      const Facts& f = facts_of_step(t);
      new_piece(f.saved_bytes * static_cast<std::int64_t>(rows_of(t).size()), kNone, kNone);
      pieces_.back().extend(t, problem_.lifetime == Lifetime::kFinish ? t : steps_);
    }
    plan_.values = laid_out(pieces_.size(), &Piece::value_group,
                            [](const Piece& piece) { return std::pair(piece.first, piece.last); });
    plan_.saved_at.assign(plan_.values.at.begin() + static_cast<std::ptrdiff_t>(pieces), plan_.values.at.end());
    plan_.values.at.resize(pieces);
    pieces_.resize(pieces);
    plan_.lasts.resize(at(problem_.size()));
    for (std::int32_t v = 0; v < problem_.size(); ++v)
      plan_.lasts[at(v)] = pieces_[at(plan_.piece[at(v)])].last == steps_ ? 1 : 0;
  }

  void place_gradients() {
    // Backward goes through the steps from the last to the first.
    plan_.gradients = laid_out(pieces_.size(), &Piece::gradient_group, [&](const Piece& piece) {
      return std::pair(steps_ - piece.last_gradient, steps_ - piece.first_gradient);
    });
    plan_.all_gradients =
        laid_out(pieces_.size(), &Piece::gradient_group, [](const Piece&) { return std::pair(0, 0); });
  }

  struct Piece {
    std::int64_t bytes = 0;
    std::int32_t value_group = kNone;     // pieces of one group lie one after the other without gaps
    std::int32_t gradient_group = kNone;  // likewise
    std::int32_t first = kNever;
    std::int32_t last = kNone;
    std::int32_t first_gradient = kNever;
    std::int32_t last_gradient = kNone;

    void extend(std::int32_t from, std::int32_t to) {
      first = std::min(first, from);
      last = std::max(last, to);
    }
    void extend_gradient(std::int32_t from, std::int32_t to) {
      first_gradient = std::min(first_gradient, from);
      last_gradient = std::max(last_gradient, to);
    }
  };

  template <class LifeOf>
  Layout laid_out(std::size_t count, std::int32_t Piece::*group, const LifeOf& life_of) const {
    std::vector<Lease> leases;
    leases.reserve(count);
    std::vector<std::int32_t> lease_of(count);
    std::vector<std::int32_t> lease_of_group;
    Layout layout;
    layout.at.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Piece& piece = pieces_[i];
      const auto [first, last] = life_of(piece);
      std::int32_t* known = nullptr;
      if (piece.*group >= 0) {
        if (at(piece.*group) >= lease_of_group.size()) lease_of_group.resize(at(piece.*group) + 1, kNone);
        known = &lease_of_group[at(piece.*group)];
      }
      if (known != nullptr && *known >= 0) {
        Lease& lease = leases[at(*known)];
        lease_of[i] = *known;
        layout.at[i] = lease.bytes;
        lease.bytes += piece.bytes;
        lease.first = std::min(lease.first, first);
        lease.last = std::max(lease.last, last);
        continue;
      }
      lease_of[i] = static_cast<std::int32_t>(leases.size());
      if (known != nullptr) *known = lease_of[i];
      layout.at[i] = 0;
      leases.push_back({.bytes = piece.bytes, .first = first, .last = last});
    }
    layout.bytes = place(leases);
    for (std::size_t i = 0; i < count; ++i) layout.at[i] += leases[at(lease_of[i])].at;
    return layout;
  }

  // By node.
  static constexpr std::uint8_t kKept = 1;      // backward of a consumer reads its value
  static constexpr std::uint8_t kHasParts = 2;  // it is read in parts, or written in parts
  static constexpr std::uint8_t kOrdered = 4;
  std::vector<std::uint8_t> flags_;
  std::vector<std::int32_t> step_of_;
  std::vector<std::int32_t> first_use_;
  std::vector<std::int32_t> last_use_;
  std::vector<std::int32_t> home_;      // a block as opened first, or -1
  std::vector<std::int32_t> home_row_;  // of its step

  const Problem& problem_;
  std::int32_t steps_;
  Plan plan_;
  std::vector<std::int32_t> homed_;  // rows of each block that are written there at once
  std::vector<Piece> pieces_;
};

}  // namespace

Plan make_plan(const Problem& problem, const batch::Schedule& schedule) {
  return Planner(problem, schedule).make(schedule);
}

}  // namespace espalier::plan
