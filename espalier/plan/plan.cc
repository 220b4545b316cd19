#include "espalier/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/plan/planner.h"

namespace espalier::plan {

Planner::Planner(const Problem& problem, const batch::Schedule& schedule, Workspace& work, Plan spare)
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
  plan_.gradients = {};
  plan_.all_gradients = {};
  plan_.step_begin = schedule.step_begin;
  plan_.bound = schedule.bound;
  plan_.bound_is_exact = schedule.bound_is_exact;
  plan_.forced = schedule.forced;
}

Plan Planner::make() {
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

/// Opens the blocks of all steps: which of them stay is known at the end.
void Planner::open_steps() {
  const std::int32_t* const order = schedule_.order.data();
  std::int32_t blocks = 0;
  std::int32_t further = 0;
  std::int32_t rows = 0;
  for (std::int32_t t = 0; t < steps_; ++t) {
    const std::int32_t signature = problem_.signature[at(order[begin(t)])];
    step_[t] = {signature, blocks, begin(t), 0, false};
    const Facts& f = problem_.facts[at(signature)];
    further += f.further_bytes > 0 ? 1 : 0;
    for (std::uint64_t left = f.blocks; left != 0; left &= left - 1) {
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
void Planner::find_uses() {
  const std::int32_t* const inputs = problem_.inputs.data();
  const std::uint8_t* const is_part = problem_.is_part.data();
  std::int32_t first = problem_.input_begin[0];
  for (std::int32_t v = 0; v < size_; ++v) {
    const std::int32_t step = step_of_[v];
    const std::int32_t last = problem_.input_begin[at(v) + 1];
    nodes_[v] = {Home::nowhere(), {first, last}, step, Node::kNever, kNone, 0};
    last_use_[v] = kNone;
    const std::uint64_t kept = facts(v).keeps_inputs;
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

namespace {

/// Rows are numbered in 32 bits.
void require_countable_rows(const Problem& problem) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t rows = std::accumulate(problem.rows.begin(), problem.rows.end(), std::int64_t{0});
  if (rows > kMost)
    throw ResourceError(fmt::format(
        "graph: a run would compute {} rows, and {} are the most there can be; compute fewer instances at once", rows,
        kMost));
}

}  // namespace

Plan make_plan(const Problem& problem, const batch::Schedule& schedule, Plan spare) {
  require_countable_rows(problem);
  // A problem of this many nodes and inputs takes some 10 MB, the most that a thread keeps.
  constexpr std::size_t kMostKept = 200'000;
  if (problem.signature.size() + problem.inputs.size() > kMostKept) {
    Workspace once;
    return Planner(problem, schedule, once, std::move(spare)).make();
  }
  thread_local Workspace work;
  return Planner(problem, schedule, work, std::move(spare)).make();
}

}  // namespace espalier::plan
