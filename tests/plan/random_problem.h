/// Problems drawn without any model in mind: products with shared weights, cells of several results, concatenations,
/// maps and sums of any number of rows, over rows of several sizes; with operands from outside, operands of which only
/// a part is read, and further results of cells that are no nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/batch/schedule.h"
#include "espalier/plan/plan.h"

namespace espalier::plan {

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

inline const Facts& facts_of(const Problem& problem, std::int32_t v) {
  return problem.facts[index(problem.signature[index(v)])];
}

/// The schedule of a problem by its strategy, as if operands from outside were not there.
inline batch::Schedule schedule_of(const Problem& problem) {
  std::vector<std::int32_t> begin{0};
  std::vector<std::int32_t> inputs;
  for (std::int32_t v = 0; v < problem.size(); ++v) {
    for (std::int32_t i = problem.input_begin[index(v)]; i < problem.input_begin[index(v) + 1]; ++i)
      if (problem.inputs[index(i)] >= 0) inputs.push_back(problem.inputs[index(i)]);
    begin.push_back(static_cast<std::int32_t>(inputs.size()));
  }
  return batch::schedule(problem.strategy,
                         {problem.signature, static_cast<std::int32_t>(problem.facts.size()), begin, inputs});
}

/// Writes problems by hand.
class ProblemBuilder {
 public:
  Problem problem;

  /// `operands` are the bytes of each operand's row.
  std::int32_t kind(const Facts& facts, const std::vector<std::int64_t>& operands) {
    problem.facts.push_back(facts);
    problem.operand_bytes.push_back(operands);
    problem.columns.emplace_back();
    return static_cast<std::int32_t>(problem.facts.size()) - 1;
  }
  std::int32_t map(std::int64_t bytes) { return kind({.row_bytes = bytes}, {}); }
  /// Of a row from each operand; the weights are no operands here.
  std::int32_t product(std::int64_t bytes, const std::vector<std::int64_t>& operands) {
    const std::uint32_t all = (1U << operands.size()) - 1;
    return kind({.row_bytes = bytes, .blocks = all, .keeps_inputs = all, .is_product = true, .defers = true}, operands);
  }
  std::int32_t concat(const std::vector<std::int64_t>& operands) {
    std::int64_t bytes = 0;
    for (std::int64_t b : operands) bytes += b;
    return kind({.row_bytes = bytes, .side_by_side = true}, operands);
  }
  /// A cell with these rows of results; `block` is, by operand, the number of the block that it is a part of, or -1.
  std::int32_t cell(Facts facts, const std::vector<std::int64_t>& results, const std::vector<std::int64_t>& operands,
                    const std::vector<std::int32_t>& block) {
    facts.row_bytes = results[0];
    for (std::size_t k = 1; k < results.size(); ++k) facts.further_bytes += results[k];
    facts.gathers = facts.saves_for_backward_only = true;
    std::vector<BlockColumn> columns(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (block[i] < 0) continue;
      facts.blocks |= 1U << i;
      const auto first = index(std::find(block.begin(), block.end(), block[i]) - block.begin());
      columns[i] = {static_cast<std::int32_t>(first), columns[first].row_bytes, 0};
      columns[first].row_bytes += operands[i];
    }
    for (BlockColumn& column : columns) column.row_bytes = columns[index(column.first)].row_bytes;
    const std::int32_t made = kind(facts, operands);
    problem.columns.back() = columns;
    return made;
  }
  std::int32_t add(std::int32_t kind, const std::vector<std::int32_t>& operands = {}) {
    for (std::int32_t u : operands) add_operand(u, false);
    problem.signature.push_back(kind);
    problem.is_output.push_back(0);
    problem.input_begin.push_back(static_cast<std::int32_t>(problem.inputs.size()));
    return problem.size() - 1;
  }
  /// Of the node to be added next.
  void add_operand(std::int32_t u, bool is_part) {
    problem.inputs.push_back(u);
    problem.is_part.push_back(is_part ? Problem::kPart : 0);
  }
  void add_further_operand(std::int32_t u) {
    problem.inputs.push_back(u);
    problem.is_part.push_back(Problem::kFurther);
  }
};

class RandomProblem {
 public:
  RandomProblem(Random& random, std::int32_t nodes, std::int32_t kinds) : random_(random) {
    for (std::int32_t k = 0; k < kinds; ++k) draw_kind();
    const std::int64_t reach = random_.below(2) == 0 ? 12 : nodes;
    for (std::int32_t v = 0; v < nodes; ++v) draw_node(reach);
  }
  const Problem& problem() const { return builder_.problem; }

 private:
  bool one_in(std::int64_t n) { return random_.below(n) == 0; }
  std::int64_t draw_bytes() { return 4 * (1 + random_.below(3)) * (one_in(3) ? 16 : 1); }

  void draw_kind() {
    Facts facts{.row_bytes = draw_bytes(), .saved_bytes = one_in(3) ? 4 * random_.below(4) : 0};
    facts.keeps_inputs = random_.next();
    facts.keeps_output = one_in(3);
    facts.defers = one_in(4);
    std::vector<std::int64_t> operands(index(random_.below(4)));
    for (std::int64_t& bytes : operands) bytes = draw_bytes();
    const std::int64_t form = random_.below(7);
    if (form >= 5) return draw_cell(facts, operands);
    any_number_.push_back(form == 4 ? 1 : 0);
    if (form <= 1 && !operands.empty()) {
      facts.blocks = random_.next() & ((1U << operands.size()) - 1);
      facts.is_product = facts.defers = true;
    } else if (form == 2 && !operands.empty()) {
      facts.side_by_side = true;
      facts.row_bytes = 0;
      for (std::int64_t bytes : operands) facts.row_bytes += bytes;
    }
    builder_.kind(facts, operands);
  }

  void draw_cell(Facts facts, const std::vector<std::int64_t>& operands) {
    any_number_.push_back(0);
    std::vector<std::int64_t> results(index(1 + random_.below(3)));
    for (std::int64_t& bytes : results) bytes = draw_bytes();
    facts.keeps_further = one_in(2);
    std::vector<std::int32_t> block;
    for (std::size_t i = 0; i < operands.size(); ++i) block.push_back(static_cast<std::int32_t>(random_.below(3)) - 1);
    if (one_in(2)) facts.deferred_bytes = 4 * (1 + random_.below(5));
    facts.defers = facts.deferred_bytes > 0 || one_in(2);
    builder_.cell(facts, results, operands, block);
  }

  void draw_node(std::int64_t reach) {
    const auto kind = static_cast<std::int32_t>(random_.below(std::ssize(any_number_)));
    std::vector<std::int64_t> operands = builder_.problem.operand_bytes[index(kind)];
    if (any_number_[index(kind)] != 0) operands.assign(index(random_.below(40)), draw_bytes());
    for (const std::int64_t bytes : operands)
      if (!draw_further_operand(reach)) draw_operand(bytes, reach);
    const std::int32_t v = builder_.add(kind);
    std::uint8_t& is_output = builder_.problem.is_output[index(v)];
    if (one_in(10)) is_output |= Problem::kOutput;
    if (facts_of(builder_.problem, v).further_bytes > 0 && one_in(10)) is_output |= Problem::kFurtherOutput;
  }

  /// Results of an earlier cell that are no nodes, whatever their size; false where none is met.
  bool draw_further_operand(std::int64_t reach) {
    const std::int32_t nodes = builder_.problem.size();
    if (nodes == 0 || !one_in(3)) return false;
    const auto u = static_cast<std::int32_t>(nodes - 1 - random_.below(std::min<std::int64_t>(reach, nodes)));
    if (facts_of(builder_.problem, u).further_bytes == 0) return false;
    builder_.add_further_operand(u);
    return true;
  }

  /// An earlier node with rows of that size, or with larger ones of which a part is read, or one from outside.
  void draw_operand(std::int64_t bytes, std::int64_t reach) {
    const std::int32_t nodes = builder_.problem.size();
    for (int attempt = 0; attempt < 10 && nodes > 0 && !one_in(20); ++attempt) {
      const auto u = static_cast<std::int32_t>(nodes - 1 - random_.below(std::min<std::int64_t>(reach, nodes)));
      const std::int64_t row = builder_.problem.facts[index(builder_.problem.signature[index(u)])].row_bytes;
      if (row != bytes && (row < bytes || !one_in(4))) continue;
      builder_.add_operand(u, row != bytes);
      return;
    }
    builder_.add_operand(Problem::kOutside, one_in(4));
  }

  Random& random_;
  ProblemBuilder builder_;
  std::vector<std::uint8_t> any_number_;  // by kind
};

}  // namespace espalier::plan
