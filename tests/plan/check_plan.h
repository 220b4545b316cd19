/// Runs a plan on numbers in the place of rows: every word of memory holds the number of who wrote it last, so that a
/// value which somebody else has written over is found when it is read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/plan/plan.h"
#include "tests/plan/random_problem.h"

namespace espalier::plan {

class PlanCheck {
 public:
  PlanCheck(const Problem& problem, const batch::Schedule& schedule, const Plan& plan)
      : problem_(problem), schedule_(schedule), plan_(plan) {}

  void run() {
    check_order();
    if (::testing::Test::HasFatalFailure()) return;
    find_places();
    check_columns();
    check_blocks();
    check_products();
    check_saved();
    run_forward();
    if (problem_.lifetime == Lifetime::kFinish) return;
    run_backward(plan_.gradients, false);
    run_backward(plan_.all_gradients, true);
  }

 private:
  const Facts& facts(std::int32_t v) const { return problem_.facts[index(problem_.signature[index(v)])]; }
  std::span<const std::int32_t> rows_of(std::int32_t step) const {
    return std::span(plan_.order)
        .subspan(index(plan_.step_begin[index(step)]),
                 index(plan_.step_begin[index(step) + 1] - plan_.step_begin[index(step)]));
  }
  std::span<const std::int32_t> operands_of(std::int32_t v) const {
    return std::span(problem_.inputs)
        .subspan(index(problem_.input_begin[index(v)]),
                 index(problem_.input_begin[index(v) + 1] - problem_.input_begin[index(v)]));
  }
  bool is_further(std::int32_t v, std::size_t operand) const {
    return (problem_.is_part[index(problem_.input_begin[index(v)]) + operand] & Problem::kFurther) != 0;
  }
  bool is_part(std::int32_t v, std::size_t operand) const {
    return problem_.is_part[index(problem_.input_begin[index(v)]) + operand] != 0;
  }
  std::int64_t operand_bytes(std::int32_t step, std::int32_t operand) const {
    return problem_.operand_bytes[index(problem_.signature[index(rows_of(step)[0])])][index(operand)];
  }
  /// What is written for a node: a part of another is told from it by its place alone.
  std::int32_t mark_of(std::int32_t v) const { return plan_.inside[index(v)] >= 0 ? plan_.inside[index(v)] : v; }
  static bool has(std::uint64_t mask, std::size_t operand) {
    return (mask >> std::min(operand, Facts::kLastBit) & 1U) != 0;
  }

  void check_order() {
    ASSERT_EQ(plan_.step_begin, schedule_.step_begin);
    ASSERT_EQ(plan_.order.size(), schedule_.order.size());
    ASSERT_EQ(plan_.block_begin.size(), plan_.step_begin.size());
    std::vector<std::uint8_t> met(plan_.order.size(), 0);
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      for (std::int32_t v : schedule_.step(t)) met[index(v)] = 1;
      for (std::int32_t v : rows_of(t)) ASSERT_EQ(met[index(v)]++, 1) << "node " << v << " in step " << t;
    }
    ASSERT_EQ(plan_.piece.size(), plan_.order.size());
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      ASSERT_GE(plan_.piece[index(v)], 0);
      ASSERT_LT(plan_.piece[index(v)], std::ssize(plan_.values.at));
    }
  }

  void find_places() {
    step_of_.resize(index(problem_.size()));
    row_of_.resize(index(problem_.size()));
    for (std::int32_t t = 0; t < plan_.steps(); ++t)
      for (std::int32_t r = 0; r < std::ssize(rows_of(t)); ++r) {
        step_of_[index(rows_of(t)[index(r)])] = t;
        row_of_[index(rows_of(t)[index(r)])] = r;
      }
  }
  // Further results, which are no nodes: all of them together, as if row by row.
  template <class F>
  void with_further(std::int32_t v, const F& f) const {
    const std::int64_t bytes = facts(v).further_bytes;
    if (bytes == 0) return;
    const std::int64_t piece = (*at_)[index(plan_.further[index(step_of_[index(v)])])];
    f(piece + row_of_[index(v)] * bytes, bytes, kFurtherMarks + v);
  }
  void write_further(std::int32_t v) {
    with_further(v, [&](std::int64_t at, std::int64_t bytes, std::int32_t mark) { write(at, bytes, mark); });
  }
  bool holds_further(std::int32_t v) const {
    bool all = true;
    with_further(v, [&](std::int64_t at, std::int64_t bytes, std::int32_t mark) { all &= holds(at, bytes, mark); });
    return all;
  }

  void check_columns() {
    for (std::int32_t u = 0; u < problem_.size(); ++u) {
      const std::int32_t whole = plan_.inside[index(u)];
      if (whole < 0) continue;
      EXPECT_TRUE(facts(whole).side_by_side);
      EXPECT_EQ(plan_.piece[index(u)], plan_.piece[index(whole)]);
      EXPECT_LT(plan_.inside[index(whole)], 0) << "a part of a part";
      bool is_column = false;
      std::int64_t column = plan_.within[index(whole)];
      const auto operands = operands_of(whole);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        is_column |= operands[k] == u && !is_part(whole, k) && column == plan_.within[index(u)];
        column += problem_.operand_bytes[index(problem_.signature[index(whole)])][k];
      }
      EXPECT_TRUE(is_column) << "node " << u << " inside " << whole;
    }
  }

  /// Where the rows of an operand lie evenly spaced by themselves.
  bool lie_evenly(std::int32_t step, std::size_t operand) const {
    const auto rows = rows_of(step);
    if (rows.size() == 1) return true;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::int32_t u = operands_of(rows[r])[operand];
      if (u < 0 || is_part(rows[r], operand)) return false;
    }
    const auto where = [&](std::size_t r) {
      const std::int32_t u = operands_of(rows[r])[operand];
      return plan_.values.at[index(plan_.piece[index(u)])] + plan_.within[index(u)];
    };
    for (std::size_t r = 2; r < rows.size(); ++r)
      if (where(r) - where(r - 1) != where(1) - where(0)) return false;
    return where(1) > where(0);
  }

  void check_blocks() {
    std::int64_t copied = 0;
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      const auto rows = rows_of(t);
      std::uint64_t met = 0;
      for (const Block& block : plan_.blocks_of(t)) {
        met |= std::uint64_t{1} << block.operand;
        const std::int64_t bytes = operand_bytes(t, block.operand);
        const BlockColumn column = problem_.column(problem_.signature[index(rows[0])], block.operand);
        EXPECT_EQ(block.before, column.before);
        EXPECT_EQ(block.row_bytes, column.row_bytes);
        EXPECT_LE(block.before + bytes, block.row_bytes);
        std::vector<std::int32_t> expected;
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const std::int32_t u = operands_of(rows[r])[index(block.operand)];
          const bool is_there = u >= 0 && !is_part(rows[r], index(block.operand)) &&
                                plan_.piece[index(u)] == block.piece && plan_.inside[index(u)] < 0 &&
                                plan_.within[index(u)] == place_in(block, static_cast<std::int64_t>(r));
          if (!is_there) expected.push_back(static_cast<std::int32_t>(r));
        }
        const auto copies = plan_.copies_of(block);
        EXPECT_EQ(std::vector(copies.begin(), copies.end()), expected);
        copied += bytes * std::ssize(expected);
      }
      const std::uint64_t wanted = facts(rows[0]).blocks;
      EXPECT_EQ(met & ~wanted, 0U);
      check_shared_blocks(t);
      if (facts(rows[0]).gathers) continue;
      for (std::size_t operand = 0; operand < operands_of(rows[0]).size(); ++operand)
        EXPECT_TRUE(!has(wanted & ~met, operand) || lie_evenly(t, operand)) << "step " << t;
    }
    EXPECT_EQ(plan_.copied_bytes, copied);
  }

  static std::int64_t place_in(const Block& block, std::int64_t row) { return block.row_bytes * row + block.before; }

  /// Operands of one block are in one piece, all of them or none.
  void check_shared_blocks(std::int32_t step) {
    const std::int32_t signature = problem_.signature[index(rows_of(step)[0])];
    const std::uint64_t wanted = problem_.facts[index(signature)].blocks;
    const auto blocks = plan_.blocks_of(step);
    for (const Block& block : blocks) {
      const std::int32_t first = problem_.column(signature, block.operand).first;
      for (std::int32_t operand = 0; operand < 63; ++operand) {
        if (!has(wanted, index(operand)) || problem_.column(signature, operand).first != first) continue;
        const auto other =
            std::find_if(blocks.begin(), blocks.end(), [&](const Block& each) { return each.operand == operand; });
        ASSERT_NE(other, blocks.end()) << "step " << step << " has half a block";
        EXPECT_EQ(other->piece, block.piece);
      }
    }
  }

  bool saves(std::int32_t step) const {
    const Facts& f = facts(rows_of(step)[0]);
    return f.saved_bytes > 0 && !(problem_.lifetime == Lifetime::kFinish && f.saves_for_backward_only);
  }

  /// What is left for backward, and by it, lies one after the other over all steps of a signature.
  void check_saved() {
    ASSERT_EQ(plan_.saved_at.size(), index(plan_.steps()));
    std::vector<std::int64_t> rows(problem_.facts.size(), 0);
    for (std::int32_t t = 0; t < plan_.steps(); ++t) rows[index(signature_of(t))] += std::ssize(rows_of(t));
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      EXPECT_EQ(plan_.saved_at[index(t)] >= 0, saves(t)) << "step " << t;
      EXPECT_EQ(plan_.signature_rows[index(t)], rows[index(signature_of(t))]);
    }
    if (problem_.lifetime == Lifetime::kFinish) return;
    check_follow(plan_.saved_at, &Facts::saved_bytes);
    check_follow(plan_.gradients.deferred_at, &Facts::deferred_bytes);
    check_follow(plan_.all_gradients.deferred_at, &Facts::deferred_bytes);
  }
  std::int32_t signature_of(std::int32_t step) const { return problem_.signature[index(rows_of(step)[0])]; }
  void check_follow(const std::vector<std::int64_t>& at, std::int64_t Facts::*bytes) {
    ASSERT_EQ(at.size(), index(plan_.steps()));
    std::vector<std::int64_t> next(problem_.facts.size(), -1);
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      const std::int64_t row = facts(rows_of(t)[0]).*bytes;
      if (row == 0) {
        EXPECT_EQ(at[index(t)], -1);
        continue;
      }
      std::int64_t& expected = next[index(signature_of(t))];
      EXPECT_TRUE(expected < 0 || at[index(t)] == expected) << "step " << t;
      expected = at[index(t)] + row * std::ssize(rows_of(t));
    }
  }

  void check_products() {
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      const auto rows = rows_of(t);
      if (!facts(rows[0]).is_product) continue;
      for (std::size_t r = 1; r < rows.size(); ++r) {
        EXPECT_EQ(plan_.piece[index(rows[r])], plan_.piece[index(rows[0])]);
        const std::int64_t next = plan_.within[index(rows[1])] - plan_.within[index(rows[0])];
        EXPECT_GE(next, facts(rows[0]).row_bytes);
        EXPECT_EQ(plan_.within[index(rows[r])] - plan_.within[index(rows[0])], next * static_cast<std::int64_t>(r));
      }
    }
  }

  // Memory is looked at in words of 4 bytes.
  void open(const Layout& layout) {
    memory_.assign(index(layout.bytes / 4), -1);
    at_ = &layout.at;
  }
  void write(std::int64_t at, std::int64_t bytes, std::int32_t mark) {
    ASSERT_GE(at, 0);
    ASSERT_LE(at + bytes, std::ssize(memory_) * 4);
    std::fill_n(memory_.begin() + at / 4, bytes / 4, mark);
  }
  bool holds(std::int64_t at, std::int64_t bytes, std::int32_t mark) const {
    return std::all_of(memory_.begin() + at / 4, memory_.begin() + (at + bytes) / 4,
                       [&](std::int32_t word) { return word == mark; });
  }
  std::int64_t where(std::int32_t v) const { return (*at_)[index(plan_.piece[index(v)])] + plan_.within[index(v)]; }
  void write(std::int32_t v) { write(where(v), facts(v).row_bytes, mark_of(v)); }
  bool holds(std::int32_t v) const { return holds(where(v), facts(v).row_bytes, mark_of(v)); }

  void run_forward() {
    open(plan_.values);
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      const auto rows = rows_of(t);
      for (const Block& block : plan_.blocks_of(t))
        for (std::int32_t r : plan_.copies_of(block)) write_copy(t, block, r);
      for (std::int32_t v : rows) write(v);
      for (std::int32_t v : rows) write_further(v);
      const std::int64_t saved = facts(rows[0]).saved_bytes * std::ssize(rows);
      if (saves(t)) write(plan_.saved_at[index(t)], saved, mark_of_saved(t));
      for (std::int32_t v : rows)  // its operands after its row is written: they may not share memory
        for (std::size_t k = 0; k < operands_of(v).size(); ++k) {
          const std::int32_t u = operands_of(v)[k];
          ASSERT_TRUE(u < 0 || (is_further(v, k) ? holds_further(u) : holds(u)))
              << "node " << u << " is read in step " << t << " by " << v;
        }
      for (const Block& block : plan_.blocks_of(t)) ASSERT_NO_FATAL_FAILURE(check_rows_of(t, block));
      for (std::int32_t v : rows) ASSERT_TRUE(holds(v)) << "node " << v << " in step " << t;
      for (std::int32_t v : rows) ASSERT_TRUE(holds_further(v)) << "results of node " << v << " in step " << t;
    }
    check_end();
  }
  std::int32_t mark_of_saved(std::int32_t step) const { return problem_.size() + step; }
  std::int32_t mark_of_copy(const Block& block) const {
    return problem_.size() + plan_.steps() + static_cast<std::int32_t>(&block - plan_.blocks.data());
  }
  void write_copy(std::int32_t step, const Block& block, std::int32_t row) {
    write((*at_)[index(block.piece)] + place_in(block, row), operand_bytes(step, block.operand), mark_of_copy(block));
  }
  void check_rows_of(std::int32_t step, const Block& block) {
    const auto rows = rows_of(step);
    const std::int64_t bytes = operand_bytes(step, block.operand);
    const auto copies = plan_.copies_of(block);
    for (std::int32_t r = 0; r < std::ssize(rows); ++r) {
      const bool is_copy = std::binary_search(copies.begin(), copies.end(), r);
      const std::int32_t mark = is_copy ? mark_of_copy(block) : operands_of(rows[index(r)])[index(block.operand)];
      ASSERT_TRUE(holds((*at_)[index(block.piece)] + place_in(block, r), bytes, mark)) << "row " << r << " of a block";
    }
  }

  /// What must outlive the run does.
  void check_end() {
    const std::int32_t n = problem_.size();
    std::vector<std::uint8_t> stays(index(n), 0);
    std::vector<std::uint8_t> further_stays(index(n), 0);
    const bool training = problem_.lifetime == Lifetime::kTraining;
    for (std::int32_t v = 0; v < n; ++v) {
      if (problem_.lifetime == Lifetime::kAll || (problem_.is_output[index(v)] & Problem::kOutput) != 0 ||
          (training && facts(v).keeps_output))
        stays[index(v)] = 1;
      const auto operands = operands_of(v);
      for (std::size_t k = 0; k < operands.size(); ++k)
        if (training && operands[k] >= 0 && has(facts(v).keeps_inputs, k)) {
          if (is_further(v, k))
            further_stays[index(operands[k])] = 1;
          else
            stays[index(operands[k])] = 1;
        }
      if (problem_.lifetime == Lifetime::kAll || (problem_.is_output[index(v)] & Problem::kFurtherOutput) != 0 ||
          (training && facts(v).keeps_further))
        further_stays[index(v)] = 1;
    }
    for (std::int32_t v = 0; v < n; ++v) {
      with_further(v, [&](std::int64_t at, std::int64_t bytes, std::int32_t mark) {
        const bool lasts = plan_.further_lasts[index(step_of_[index(v)])] != 0;
        EXPECT_TRUE(lasts || further_stays[index(v)] == 0) << "node " << v;
        EXPECT_TRUE(!lasts || holds(at, bytes, mark)) << "results of node " << v << " should last";
      });
    }
    for (std::int32_t v = 0; v < n; ++v) {
      EXPECT_GE(plan_.lasts[index(v)], stays[index(v)]);
      EXPECT_TRUE(plan_.lasts[index(v)] == 0 || holds(v)) << "node " << v << " should last";
    }
    if (problem_.lifetime == Lifetime::kFinish) return;
    for (std::int32_t t = 0; t < plan_.steps(); ++t) {
      const auto rows = rows_of(t);
      const std::int64_t saved = facts(rows[0]).saved_bytes * std::ssize(rows);
      EXPECT_TRUE(saved == 0 || holds(plan_.saved_at[index(t)], saved, mark_of_saved(t)));
      for (const Block& block : plan_.blocks_of(t))
        if (!training || has(facts(rows[0]).keeps_inputs, index(block.operand))) check_rows_of(t, block);
    }
  }

  std::int32_t mark_of_deferred(std::int32_t step) const {
    return problem_.size() + plan_.steps() + static_cast<std::int32_t>(plan_.blocks.size()) + step;
  }
  std::int64_t deferred_bytes(std::int32_t step) const {
    return facts(rows_of(step)[0]).deferred_bytes * std::ssize(rows_of(step));
  }

  /// Each consumer adds to its operands' gradients; those of the rows of steps that defer are read again at the end, as
  /// is what cells leave. A cell reads the gradients of all its results, zeros where nobody gave one.
  void run_backward(const Layout& layout, bool all_stay) {
    open(layout);
    // Outputs have one from the beginning.
    std::vector<std::uint8_t> written(index(problem_.size()), 0);
    std::vector<std::uint8_t> further_written(written.size(), 0);
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      written[index(v)] = problem_.is_output[index(v)] & Problem::kOutput;
      further_written[index(v)] = (problem_.is_output[index(v)] & Problem::kFurtherOutput) != 0 ? 1 : 0;
    }
    const auto require = [&](std::int32_t v, std::int32_t step) {
      ASSERT_TRUE(written[index(v)] == 0 || holds(v)) << "gradient of node " << v << " in step " << step;
    };
    for (std::int32_t v = 0; v < problem_.size(); ++v)
      if (written[index(v)] != 0) write(v);
    for (std::int32_t v = 0; v < problem_.size(); ++v)
      if (further_written[index(v)] != 0) write_further(v);
    for (std::int32_t t = plan_.steps() - 1; t >= 0; --t) {
      for (const Block& block : plan_.blocks_of(t))
        for (std::int32_t r : plan_.copies_of(block)) write_copy(t, block, r);
      if (deferred_bytes(t) > 0) write(layout.deferred_at[index(t)], deferred_bytes(t), mark_of_deferred(t));
      for (std::int32_t v : rows_of(t))
        for (std::size_t k = 0; k < operands_of(v).size(); ++k) {
          const std::int32_t u = operands_of(v)[k];
          if (u < 0) continue;
          if (is_further(v, k)) {
            ASSERT_TRUE(further_written[index(u)] == 0 || holds_further(u)) << "gradients of results of node " << u;
            write_further(u);
            further_written[index(u)] = 1;
            continue;
          }
          ASSERT_NO_FATAL_FAILURE(require(u, t));
          write(u);
          written[index(u)] = 1;
        }
      for (std::int32_t v : rows_of(t)) ASSERT_NO_FATAL_FAILURE(require(v, t));
      for (std::int32_t v : rows_of(t)) {
        ASSERT_TRUE(further_written[index(v)] == 0 || holds_further(v)) << "gradients of results of node " << v;
        write_further(v);  // zeros where nobody gave one
        further_written[index(v)] = 1;
        ASSERT_TRUE(holds_further(v));
      }
    }
    for (std::int32_t t = 0; t < plan_.steps(); ++t)
      ASSERT_TRUE(deferred_bytes(t) == 0 || holds(layout.deferred_at[index(t)], deferred_bytes(t), mark_of_deferred(t)))
          << "what step " << t << " leaves";
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      if (!all_stay && !facts(v).defers) continue;
      ASSERT_NO_FATAL_FAILURE(require(v, -1));
    }
  }

  const Problem& problem_;
  const batch::Schedule& schedule_;
  const Plan& plan_;
  static constexpr std::int32_t kFurtherMarks = 1 << 24;

  std::vector<std::int32_t> step_of_;  // by node
  std::vector<std::int32_t> row_of_;   // in its step
  std::vector<std::int32_t> memory_;
  const std::vector<std::int64_t>* at_ = nullptr;
};

}  // namespace espalier::plan
