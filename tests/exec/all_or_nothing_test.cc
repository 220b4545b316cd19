/// A backward pass that ends by an exception leaves all gradients as they were.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"
#include "tests/support/budget.h"

namespace espalier {
namespace {

/// y = x; differentiating it throws once, after as many calls as `calls_left` says.
struct FaultyOp {
  static constexpr std::string_view kName = "test_faulty";
  static constexpr std::string_view kContract = "y = x";
  static constexpr Kind kKind = Kind::kMap;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  using Attrs = ops::None;
  using Fields = ops::None;
  static inline int calls_left = -1;  // below 0: it never throws

  static void call() {
    if (calls_left-- == 0) throw std::runtime_error("no gradient today");
  }
  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    if constexpr (std::is_same_v<T, ad::Var>) call();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][i] * T(1);
  }
  static Samples samples() { return {}; }
  static Refusals refusals() { return {}; }
};

struct NumbersOfOne {
  std::string parameter;
  bool sparse = false;
  std::vector<std::int32_t> rows;
  Tensor values;
  bool operator==(const NumbersOfOne&) const = default;
};

std::vector<NumbersOfOne> all_numbers_in(const Gradients& gradients) {
  std::vector<NumbersOfOne> all;
  for (const Gradient* each : gradients.all())
    all.push_back({each->parameter->name(), each->sparse, each->rows, each->values()});
  return all;
}

class AllOrNothing : public testing::SmallModel {
 protected:
  void SetUp() override { register_op<FaultyOp>(); }
  void TearDown() override { FaultyOp::calls_left = -1; }

  /// Its gradients are rows of a table, weights of products, and of a parameter that is used as it is. The faulty op is
  /// differentiated when some of each are there already.
  Expr loss_of(Graph& graph, bool read_midway) const {
    std::vector<Expr> losses;
    for (int i = 0; i < 6; ++i) {
      graph.begin_instance();
      const Expr early = ops::record<FaultyOp>(tanh(linear(lookup(graph, table, i), W)));
      if (read_midway) early.value();
      const Expr late = tanh(affine(early + lookup(graph, table, (i + 3) % 9), V, b)) * graph.parameter(b);
      losses.push_back(sum(late, 0));
    }
    return sum(losses);
  }
  /// What is there before the pass that throws.
  using Before = void (*)(const AllOrNothing&, Gradients&);
  static void nothing(const AllOrNothing&, Gradients&) {}
  static void earlier_pass(const AllOrNothing& test, Gradients& gradients) {
    Graph graph;
    test.loss_of(graph, false).backward({.into = &gradients, .wanted = {}});
  }
  static void whole_table(const AllOrNothing& test, Gradients& gradients) {
    earlier_pass(test, gradients);
    Graph graph;
    sum_elements(tanh(graph.parameter(test.table))).backward({.into = &gradients, .wanted = {}});
  }

  void expect_all_or_nothing(const GraphOptions& options, bool read_midway, Before before) const {
    Gradients expected;
    before(*this, expected);
    {
      Graph graph(options);
      loss_of(graph, read_midway).backward({.into = &expected, .wanted = {}});
    }
    // However many calls succeed before one throws.
    bool has_thrown = true;
    for (int calls = 0; has_thrown; ++calls) {
      ASSERT_LT(calls, 1000);
      Gradients gradients;
      before(*this, gradients);
      const std::vector<NumbersOfOne> numbers_before = all_numbers_in(gradients);
      Graph graph(options);
      const Expr loss = loss_of(graph, read_midway);
      FaultyOp::calls_left = calls;
      has_thrown = false;
      try {
        loss.backward({.into = &gradients, .wanted = {}});
      } catch (const std::runtime_error&) {
        has_thrown = true;
        EXPECT_EQ(all_numbers_in(gradients), numbers_before) << calls << " calls";
        loss.backward({.into = &gradients, .wanted = {}});  // nothing throws any more
      }
      FaultyOp::calls_left = -1;
      EXPECT_EQ(all_numbers_in(gradients), all_numbers_in(expected)) << calls << " calls";
      ASSERT_TRUE(has_thrown || calls > 0) << "nothing was tested";
    }
  }
  void expect_for_all_beginnings(const GraphOptions& options, bool read_midway) const {
    expect_all_or_nothing(options, read_midway, nothing);
    expect_all_or_nothing(options, read_midway, earlier_pass);
    expect_all_or_nothing(options, read_midway, whole_table);
  }
};

TEST_F(AllOrNothing, HoldsForOneRun) { expect_for_all_beginnings({}, false); }

TEST_F(AllOrNothing, HoldsForOneNodeAtATime) { expect_for_all_beginnings({.strategy = Strategy::kNone}, false); }

TEST_F(AllOrNothing, HoldsForSeveralRuns) { expect_for_all_beginnings({}, true); }

TEST_F(AllOrNothing, HoldsForTheReferenceTwin) { expect_for_all_beginnings({.execution = Execution::kPlain}, false); }

TEST_F(AllOrNothing, HoldsForAMinibatchThatABudgetDivides) {
  Gradients unused;
  Graph whole;
  loss_of(whole, false).backward({.into = &unused, .wanted = {}});
  const GraphOptions divided{.memory_budget = testing::budget_of(whole.statistics(), 40)};
  Graph parts(divided);
  loss_of(parts, false).backward({.into = &unused, .wanted = {}});
  ASSERT_GT(parts.statistics().parts, 1);
  expect_for_all_beginnings(divided, false);
}

}  // namespace
}  // namespace espalier
