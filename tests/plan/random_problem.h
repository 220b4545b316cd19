/// Problems drawn without any model in mind: products with shared weights, concatenations, maps and sums of any number
/// of rows, over rows of several sizes; with operands from outside and operands of which only a part is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/batch/schedule.h"
#include "espalier/plan/plan.h"

namespace espalier::plan {

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

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
    problem.is_part.push_back(is_part ? 1 : 0);
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
    const std::int64_t form = random_.below(5);
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

  void draw_node(std::int64_t reach) {
    const auto kind = static_cast<std::int32_t>(random_.below(std::ssize(builder_.problem.facts)));
    std::vector<std::int64_t> operands = builder_.problem.operand_bytes[index(kind)];
    if (any_number_[index(kind)] != 0) operands.assign(index(random_.below(40)), draw_bytes());
    for (std::int64_t bytes : operands) draw_operand(bytes, reach);
    const std::int32_t v = builder_.add(kind);
    builder_.problem.is_output[index(v)] = one_in(10) ? 1 : 0;
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
