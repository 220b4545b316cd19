/// The kernels of LSTM cells against plain loops in double, and to the bit against one row at a time.
#include "espalier/kernels/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/row_block.h"
#include "tests/kernels/targets.h"

namespace espalier::kernels {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

enum class Leaving { kNothing, kBeside, kInPlace };
enum class Giving { kStores, kAdds, kMixed };

/// A step of so many rows.
struct LstmCase {
  std::int64_t children;
  std::int64_t rows;
  std::int64_t width;
  Lying lying;
  Leaving leaving;
  Giving giving;

  std::string to_string() const {
    return std::to_string(children) + " children, " + std::to_string(rows) + " rows of " + std::to_string(width) +
           ", lying " + std::to_string(static_cast<int>(lying)) + ", leaving " +
           std::to_string(static_cast<int>(leaving)) + ", giving " + std::to_string(static_cast<int>(giving));
  }
};

template <class Body>
void for_every_case(const std::vector<Leaving>& leavings, const std::vector<Giving>& givings, const Body& body) {
  on_every_target([&] {
    for (const std::int64_t children : {0, 1, 2, 3, 5})
      for (const auto& [rows, width] : {std::pair<int, int>{1, 1}, {2, 16}, {7, 19}, {65, 3}, {3, 64}, {2, 150}})
        for (const Lying lying : {Lying::kDense, Lying::kSpaced, Lying::kScattered})
          for (const Leaving leaving : leavings)
            for (const Giving giving : givings) {
              const LstmCase of{children, rows, width, lying, leaving, giving};
              SCOPED_TRACE(of.to_string());
              body(of);
              if (::testing::Test::HasFatalFailure()) return;
            }
  });
}

/// Operand k of a memory as one that is opened, or -1: i, u, f_1, c_1, f_2, c_2, ...
std::int64_t gate_number(std::int64_t operand) {
  if (operand < 2) return operand;
  return operand % 2 == 0 ? operand / 2 + 1 : -1;
}

struct MemoryStep {
  explicit MemoryStep(const LstmCase& the_case) : of(the_case), c(block(100)), dc(block(101)) {
    for (std::int64_t k = 0; k < 2 + 2 * of.children; ++k) {
      x.push_back(block(static_cast<std::uint64_t>(k)));
      given.push_back(block(static_cast<std::uint64_t>(50 + k)));
    }
    for (std::int64_t k = 0; k < 2 + of.children; ++k) opened.push_back(block(static_cast<std::uint64_t>(200 + k)));
  }
  RowBlock block(std::uint64_t seed) const { return {of.rows, of.width, of.lying, seed}; }

  RowBlock& opened_of(std::size_t operand) {
    const auto gate = static_cast<std::size_t>(gate_number(static_cast<std::int64_t>(operand)));
    return of.leaving == Leaving::kInPlace ? x[operand] : opened[gate];
  }
  /// How the gradient of an operand is given: its target, and what it adds to.
  bool is_wanted(std::size_t operand) const { return of.giving != Giving::kMixed || operand % 3 != 1; }
  bool stores(std::size_t operand) const {
    return of.giving == Giving::kStores || (of.giving == Giving::kMixed && operand % 2 == 0);
  }
  RowBlock& target_of(std::size_t operand) {
    const bool in_place = of.leaving == Leaving::kInPlace && gate_number(static_cast<std::int64_t>(operand)) >= 0;
    return in_place && stores(operand) ? x[operand] : given[operand];
  }

  /// With the rows that `take` gives of a block.
  template <class Take>
  void forward(const Take& take) {
    std::vector<ConstRows> in;
    std::vector<Rows> to(opened.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      in.emplace_back(take(x[k]));
      const std::int64_t gate = gate_number(static_cast<std::int64_t>(k));
      if (gate >= 0) to[static_cast<std::size_t>(gate)] = take(opened_of(k));
    }
    lstm_memory({of.children, in.data(), take(c), of.leaving == Leaving::kNothing ? nullptr : to.data()});
  }
  template <class Take>
  void backward(const Take& take) {
    std::vector<ConstRows> in;
    std::vector<ConstRows> from(opened.size());
    std::vector<GradientRows> to;
    for (std::size_t k = 0; k < x.size(); ++k) {
      in.emplace_back(take(x[k]));
      const std::int64_t gate = gate_number(static_cast<std::int64_t>(k));
      if (gate >= 0) from[static_cast<std::size_t>(gate)] = take(opened_of(k));
      to.push_back(is_wanted(k) ? GradientRows{take(target_of(k)), stores(k)} : GradientRows{});
    }
    lstm_memory_gradient({of.children, in.data(), from.data(), take(dc), to.data()});
  }

  LstmCase of;
  std::vector<RowBlock> x, opened, given;
  RowBlock c, dc;
};

struct OutputStep {
  explicit OutputStep(const LstmCase& the_case)
      : of(the_case),
        o(block(1)),
        c(block(2)),
        h(block(3)),
        opened(block(4)),
        tanh_c(block(5)),
        by_o(block(6)),
        by_c(block(7)) {}
  RowBlock block(std::uint64_t seed) const { return {of.rows, of.width, of.lying, seed}; }

  bool is_in_place() const { return of.leaving == Leaving::kInPlace; }
  bool stores_o() const { return of.giving != Giving::kAdds; }
  bool stores_c() const { return of.giving == Giving::kStores; }

  template <class Take>
  void forward(const Take& take) {
    LstmOutputRows rows{take(o), take(c), take(h), {}, {}};
    if (of.leaving != Leaving::kNothing) {
      rows.opened = take(is_in_place() ? o : opened);
      rows.tanh_c = take(tanh_c);
    }
    lstm_output(rows);
  }
  template <class Take>
  void backward(const Take& take) {
    RowBlock& from = is_in_place() ? o : opened;
    lstm_output_gradient({take(from),
                          take(tanh_c),
                          take(h),
                          {take(is_in_place() && stores_o() ? o : by_o), stores_o()},
                          {take(by_c), stores_c()}});
  }

  LstmCase of;
  RowBlock o, c, h, opened, tanh_c, by_o, by_c;  // backward takes h for its gradient
};

const auto all_rows = [](RowBlock& block) { return block.rows(); };
const auto row_number = [](std::int64_t r) { return [r](RowBlock& block) { return block.row(r); }; };

constexpr double kNear = 3e-6;

TEST(LstmMemory, EqualsPlainLoops) {
  for_every_case({Leaving::kNothing, Leaving::kBeside, Leaving::kInPlace}, {Giving::kStores}, [](const LstmCase& of) {
    MemoryStep step(of);
    MemoryStep before(of);
    step.forward(all_rows);
    for (std::int64_t r = 0; r < of.rows; ++r)
      for (std::int64_t j = 0; j < of.width; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < step.x.size(); k += 2) {
          const double gate = sigmoid_of(before.x[k].at(r, j));
          const double held = k == 0 ? std::tanh(before.x[1].at(r, j)) : before.x[k + 1].at(r, j);
          sum += gate * held;
          if (of.leaving == Leaving::kNothing) continue;
          ASSERT_NEAR(step.opened_of(k).at(r, j), gate, kNear);
          if (k == 0) {
            ASSERT_NEAR(step.opened_of(1).at(r, j), held, kNear);
          }
        }
        ASSERT_NEAR(step.c.at(r, j), sum, kNear * static_cast<double>(1 + of.children));
      }
  });
}

TEST(LstmMemory, GradientsEqualPlainLoops) {
  for_every_case(
      {Leaving::kBeside, Leaving::kInPlace}, {Giving::kStores, Giving::kAdds, Giving::kMixed}, [](const LstmCase& of) {
        MemoryStep step(of);
        MemoryStep before(of);
        step.forward(all_rows);
        step.backward(all_rows);
        for (std::int64_t r = 0; r < of.rows; ++r)
          for (std::int64_t j = 0; j < of.width; ++j)
            for (std::size_t k = 0; k < step.x.size(); ++k) {
              const double g = before.dc.at(r, j);
              const bool is_gate = k % 2 == 0;
              const double gate = sigmoid_of(before.x[is_gate ? k : k - 1].at(r, j));
              const double beside = before.x[is_gate ? k + 1 : k].at(r, j);
              const double held = k < 2 ? std::tanh(beside) : beside;
              double expected = is_gate ? g * held * gate * (1 - gate) : g * gate * (k == 1 ? 1 - held * held : 1);
              if (!step.is_wanted(k)) continue;
              if (!step.stores(k)) expected += before.given[k].at(r, j);
              ASSERT_NEAR(step.target_of(k).at(r, j), expected, kNear * 4) << "by operand " << k;
            }
        for (std::size_t k = 0; k < step.x.size(); ++k)
          ASSERT_TRUE(step.is_wanted(k) || step.given[k].numbers() == before.given[k].numbers());
      });
}

TEST(LstmMemory, HasTheSameBitsRowByRow) {
  for_every_case({Leaving::kBeside, Leaving::kInPlace}, {Giving::kStores, Giving::kAdds, Giving::kMixed},
                 [](const LstmCase& of) {
                   MemoryStep together(of);
                   MemoryStep alone(of);
                   together.forward(all_rows);
                   together.backward(all_rows);
                   for (std::int64_t r = 0; r < of.rows; ++r) alone.forward(row_number(r));
                   for (std::int64_t r = 0; r < of.rows; ++r) alone.backward(row_number(r));
                   ASSERT_TRUE(together.c.numbers() == alone.c.numbers());
                   for (std::size_t k = 0; k < alone.x.size(); ++k) {
                     ASSERT_TRUE(together.x[k].numbers() == alone.x[k].numbers());
                     ASSERT_TRUE(together.given[k].numbers() == alone.given[k].numbers());
                   }
                   for (std::size_t k = 0; k < alone.opened.size(); ++k)
                     ASSERT_TRUE(together.opened[k].numbers() == alone.opened[k].numbers());
                 });
}

TEST(LstmOutput, EqualsPlainLoops) {
  for_every_case({Leaving::kNothing, Leaving::kBeside, Leaving::kInPlace}, {Giving::kStores}, [](const LstmCase& of) {
    if (of.children > 0) return;
    OutputStep step(of);
    OutputStep before(of);
    step.forward(all_rows);
    for (std::int64_t r = 0; r < of.rows; ++r)
      for (std::int64_t j = 0; j < of.width; ++j) {
        const double gate = sigmoid_of(before.o.at(r, j));
        const double held = std::tanh(before.c.at(r, j));
        ASSERT_NEAR(step.h.at(r, j), gate * held, kNear);
        if (of.leaving == Leaving::kNothing) continue;
        ASSERT_NEAR((step.is_in_place() ? step.o : step.opened).at(r, j), gate, kNear);
        ASSERT_NEAR(step.tanh_c.at(r, j), held, kNear);
      }
  });
}

TEST(LstmOutput, GradientsEqualPlainLoopsAndHaveTheSameBitsRowByRow) {
  for_every_case(
      {Leaving::kBeside, Leaving::kInPlace}, {Giving::kStores, Giving::kAdds, Giving::kMixed}, [](const LstmCase& of) {
        if (of.children > 0) return;
        OutputStep step(of);
        OutputStep before(of);
        OutputStep alone(of);
        step.forward(all_rows);
        const RowBlock dh = step.h;
        step.backward(all_rows);
        for (std::int64_t r = 0; r < of.rows; ++r) alone.forward(row_number(r));
        for (std::int64_t r = 0; r < of.rows; ++r) alone.backward(row_number(r));
        ASSERT_TRUE(step.o.numbers() == alone.o.numbers() && step.h.numbers() == alone.h.numbers());
        ASSERT_TRUE(step.by_o.numbers() == alone.by_o.numbers() && step.by_c.numbers() == alone.by_c.numbers());
        RowBlock given = dh;
        for (std::int64_t r = 0; r < of.rows; ++r)
          for (std::int64_t j = 0; j < of.width; ++j) {
            const double g = given.at(r, j);
            const double gate = sigmoid_of(before.o.at(r, j));
            const double held = std::tanh(before.c.at(r, j));
            const double by_o = g * held * gate * (1 - gate) + (step.stores_o() ? 0 : before.by_o.at(r, j));
            const double by_c = g * gate * (1 - held * held) + (step.stores_c() ? 0 : before.by_c.at(r, j));
            ASSERT_NEAR((step.is_in_place() && step.stores_o() ? step.o : step.by_o).at(r, j), by_o, kNear);
            ASSERT_NEAR(step.by_c.at(r, j), by_c, kNear);
          }
      });
}

}  // namespace
}  // namespace espalier::kernels
