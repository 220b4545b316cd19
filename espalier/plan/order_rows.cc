/// In which order a step has its rows, and where each is to be written: its home.
#include <algorithm>
#include <bit>

#include "espalier/plan/planner.h"

namespace espalier::plan {

inline void Planner::append(std::int32_t v, Node& node) {
  node.position = step_[node.step].next++;
  plan_.order[at(node.position)] = v;
  homes_[node.position] = node.home;
  inputs_[node.position] = node.inputs;
}

/// Also finds homes on the way.
void Planner::order_rows() {
  if (steps_ == size_) return keep_order();
  plan_.order.resize(at(size_));
  for (std::int32_t t = steps_ - 1; t >= 0; --t) {
    append_unused(t);
    if (!step_[t].has_firsts && facts_of_step(t).blocks == 0) continue;
    sweep(t);
  }
}

/// One node a step.
void Planner::keep_order() {
  plan_.order = schedule_.order;
  for (std::int32_t p = 0; p < size_; ++p) {
    Node& node = nodes_[plan_.order[at(p)]];
    node.position = p;
    inputs_[p] = node.inputs;
    homes_[p] = Home::nowhere();
    std::int32_t block = step_[p].first_block;
    std::int32_t i = node.inputs.begin;
    for (std::uint64_t left = facts_of_step(p).blocks; left != 0; left >>= 1, ++i) {
      if ((left & 1U) == 0) continue;
      const Home home(block++, 0);
      const std::int32_t u = problem_.inputs[at(i)];
      if (u >= 0 && problem_.is_part[at(i)] == 0 && home < homes_[nodes_[u].position])
        homes_[nodes_[u].position] = home;
    }
  }
}

/// All others are there when the sweep comes to their step.
void Planner::append_unused(std::int32_t t) {
  if (step_[t].next == end(t)) return;
  for (std::int32_t v : schedule_.step(t))
    if (nodes_[v].first_use == Node::kNever) append(v, nodes_[v]);
}

void Planner::sweep(std::int32_t t) {
  constexpr std::int32_t kAhead = 12;
  const std::uint64_t blocks = facts_of_step(t).blocks;
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
    std::uint64_t left = blocks;
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
void Planner::take_columns() {
  if (std::none_of(problem_.facts.begin(), problem_.facts.end(), [](const Facts& f) { return f.side_by_side; })) return;
  for (std::int32_t t = 0; t < steps_; ++t)
    if (facts_of_step(t).side_by_side)
      for (std::int32_t p = begin(t); p < end(t); ++p) take_columns_of(t, p);
}

void Planner::take_columns_of(std::int32_t step, std::int32_t position) {
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

}  // namespace espalier::plan
