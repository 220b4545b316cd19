/// Plans: every row has one place, nothing is written over before it is read, and what should not be copied is not.
#include "espalier/plan/plan.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/batch/workloads.h"
#include "tests/plan/check_plan.h"
#include "tests/plan/random_problem.h"

namespace espalier::plan {
namespace {

constexpr std::array kStrategies{Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};
constexpr std::array kLifetimes{Lifetime::kAll, Lifetime::kTraining, Lifetime::kFinish};
constexpr std::int64_t kRow = 64;

Plan plan_of(const Problem& problem) { return make_plan(problem, schedule_of(problem)); }

Plan checked_plan_of(const Problem& problem) {
  const batch::Schedule schedule = schedule_of(problem);
  Plan plan = make_plan(problem, schedule);
  PlanCheck(problem, schedule, plan).run();
  return plan;
}

/// A copy with another strategy and lifetime.
Problem varied(Problem problem, Strategy strategy, Lifetime lifetime) {
  problem.strategy = strategy;
  problem.lifetime = lifetime;
  return problem;
}

/// A map on each leaf; an inner node is a map of a product of its two children, side by side or as two operands.
Problem trees(Random& random, int count, bool concatenated) {
  ProblemBuilder builder;
  const std::int32_t leaf = builder.map(kRow);
  const std::int32_t map = builder.map(kRow);
  const std::int32_t concat = concatenated ? builder.concat({kRow, kRow}) : -1;
  const std::int32_t product = concatenated ? builder.product(kRow, {2 * kRow}) : builder.product(kRow, {kRow, kRow});
  for (int t = 0; t < count; ++t) {
    std::vector<std::int32_t> states;
    for (const auto& children : batch::random_tree(random)) {
      if (batch::is_leaf(children)) {
        states.push_back(builder.add(leaf));
        continue;
      }
      std::vector<std::int32_t> operands{states[index(children[0])], states[index(children[1])]};
      if (concatenated) operands = {builder.add(concat, operands)};
      states.push_back(builder.add(map, {builder.add(product, operands)}));
    }
    builder.problem.is_output[index(states.back())] = 1;
  }
  return builder.problem;
}

TEST(Plan, OfRandomProblemsKeepsEveryValueUntilItIsRead) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const auto nodes = static_cast<std::int32_t>(1 + random.below(round % 8 == 0 ? 400 : 60));
    const RandomProblem drawn(random, nodes, static_cast<std::int32_t>(1 + random.below(8)));
    for (Strategy strategy : kStrategies)
      for (Lifetime lifetime : kLifetimes) {
        SCOPED_TRACE(::testing::Message()
                     << "round " << round << ", " << name_of(strategy) << ", lifetime " << static_cast<int>(lifetime));
        checked_plan_of(varied(drawn.problem(), strategy, lifetime));
        if (HasFailure()) return;
      }
  }
}

TEST(Plan, OfAnEmptyProblemIsEmpty) {
  const Plan plan = plan_of({});
  EXPECT_EQ(plan.steps(), 0);
  EXPECT_EQ(plan.values.bytes, 0);
  EXPECT_EQ(plan.copied_bytes, 0);
}

TEST(Plan, DependsOnTheProblemAlone) {
  Random random(2);
  const RandomProblem large(random, 500, 6);
  const RandomProblem small(random, 40, 6);
  const Plan first = plan_of(small.problem());
  plan_of(large.problem());
  const Plan second = plan_of(small.problem());
  EXPECT_EQ(first.order, second.order);
  EXPECT_EQ(first.piece, second.piece);
  EXPECT_EQ(first.within, second.within);
  EXPECT_EQ(first.inside, second.inside);
  EXPECT_EQ(first.lasts, second.lasts);
  EXPECT_EQ(first.saved_at, second.saved_at);
  EXPECT_EQ(first.copies, second.copies);
  EXPECT_EQ(first.values.at, second.values.at);
  EXPECT_EQ(first.gradients.at, second.gradients.at);
  EXPECT_EQ(first.all_gradients.at, second.all_gradients.at);
}

TEST(Plan, OfTreesCopiesNoChildren) {
  Random random(3);
  for (const bool concatenated : {true, false}) {
    const Problem problem = trees(random, 20, concatenated);
    for (Strategy strategy : {Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier})
      for (Lifetime lifetime : kLifetimes) {
        SCOPED_TRACE(::testing::Message() << name_of(strategy) << (concatenated ? ", concatenated" : ""));
        EXPECT_EQ(checked_plan_of(varied(problem, strategy, lifetime)).copied_bytes, 0);
      }
  }
}

TEST(Plan, WritesWhatIsConcatenatedIntoItsColumns) {
  Random random(4);
  const Problem problem = trees(random, 5, true);
  const Plan plan = plan_of(problem);
  for (std::int32_t v = 0; v < problem.size(); ++v) {
    if (!problem.facts[index(problem.signature[index(v)])].side_by_side) continue;
    for (std::int32_t k = 0; k < 2; ++k) {
      const std::int32_t u = problem.inputs[index(problem.input_begin[index(v)] + k)];
      EXPECT_EQ(plan.inside[index(u)], v);
      EXPECT_EQ(plan.within[index(u)], plan.within[index(v)] + k * kRow);
    }
  }
}

TEST(Plan, OfTreesNeedsLessMemoryTheShorterValuesLast) {
  Random random(5);
  for (const bool concatenated : {true, false}) {
    const Problem problem = trees(random, 20, concatenated);
    for (Strategy strategy : {Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier}) {
      const std::int64_t all = plan_of(varied(problem, strategy, Lifetime::kAll)).values.bytes;
      const std::int64_t training = plan_of(varied(problem, strategy, Lifetime::kTraining)).values.bytes;
      const std::int64_t finish = plan_of(varied(problem, strategy, Lifetime::kFinish)).values.bytes;
      EXPECT_LE(training, all);
      EXPECT_LE(finish, training);
      EXPECT_LT(finish, all);
    }
  }
}

/// Training copies single rows that would stay where they are: it may need more for those.
TEST(Plan, OfRandomProblemsNeedsLittleMoreThanAllRows) {
  Random random(6);
  for (int round = 0; round < 100; ++round) {
    const RandomProblem drawn(random, 100, 5);
    for (Strategy strategy : kStrategies) {
      const Plan all = plan_of(varied(drawn.problem(), strategy, Lifetime::kAll));
      const Plan finish = plan_of(varied(drawn.problem(), strategy, Lifetime::kFinish));
      EXPECT_LE(finish.values.bytes, all.values.bytes + 64 * std::ssize(finish.blocks));
      EXPECT_EQ(finish.copied_bytes, all.copied_bytes);
      EXPECT_LE(all.gradients.bytes, all.all_gradients.bytes);
    }
  }
}

TEST(Plan, OfAChainCopiesNothingAndUsesMemoryAgain) {
  ProblemBuilder builder;
  const std::int32_t map = builder.map(kRow);
  const std::int32_t product = builder.product(kRow, {kRow});
  std::int32_t last = builder.add(map);
  for (int i = 0; i < 100; ++i) last = builder.add(map, {builder.add(product, {last})});
  builder.problem.is_output[index(last)] = 1;
  for (Strategy strategy : kStrategies) {
    EXPECT_EQ(checked_plan_of(varied(builder.problem, strategy, Lifetime::kTraining)).copied_bytes, 0);
    const Plan finish = checked_plan_of(varied(builder.problem, strategy, Lifetime::kFinish));
    EXPECT_EQ(finish.copied_bytes, 0);
    EXPECT_LE(finish.values.bytes, 3 * kRow);
  }
}

TEST(Plan, BlocksOfAllStepsLieOneAfterTheOtherInTraining) {
  ProblemBuilder builder;
  const std::int32_t map = builder.map(20);
  const std::int32_t product = builder.product(20, {20});
  std::int32_t last = builder.add(map);
  for (int i = 0; i < 10; ++i) last = builder.add(map, {builder.add(product, {last})});
  const Plan plan = checked_plan_of(varied(builder.problem, Strategy::kFrontier, Lifetime::kTraining));
  ASSERT_EQ(plan.blocks.size(), 10U);
  for (std::size_t b = 1; b < plan.blocks.size(); ++b)
    EXPECT_EQ(plan.values.at[index(plan.blocks[b].piece)], plan.values.at[index(plan.blocks[b - 1].piece)] + 20);
}

TEST(Plan, DoesNotCopyWhatIsReadAThousandStepsLater) {
  ProblemBuilder builder;
  const std::int32_t early = builder.map(kRow);
  const std::int32_t map = builder.map(kRow);
  const std::int32_t product = builder.product(kRow, {kRow, kRow});
  std::array<std::int32_t, 3> first{};
  std::array<std::int32_t, 3> last{};
  for (std::size_t chain = 0; chain < 3; ++chain) {
    first[chain] = builder.add(early);
    last[chain] = builder.add(map);
    for (int i = 0; i < 1000; ++i) last[chain] = builder.add(map, {last[chain]});
  }
  for (std::size_t chain : {2, 0, 1}) builder.add(product, {first[chain], last[chain]});
  for (Lifetime lifetime : kLifetimes) {
    const Plan plan = checked_plan_of(varied(builder.problem, Strategy::kFrontier, lifetime));
    EXPECT_GE(plan.steps(), 1000);
    EXPECT_EQ(plan.copied_bytes, 0);
  }
}

TEST(Plan, CopiesForASecondConsumerThatWantsAnotherOrder) {
  ProblemBuilder builder;
  const std::int32_t map = builder.map(kRow);
  const std::int32_t first = builder.product(kRow, {kRow});
  const std::int32_t second = builder.product(kRow, {kRow, kRow});
  std::array<std::int32_t, 3> rows{};
  for (std::int32_t& u : rows) u = builder.add(map);
  std::array<std::int32_t, 3> products{};
  for (std::size_t i = 0; i < 3; ++i) products[i] = builder.add(first, {rows[i]});
  for (std::size_t i = 0; i < 3; ++i) builder.add(second, {products[i], rows[2 - i]});
  const Plan plan = checked_plan_of(builder.problem);
  EXPECT_EQ(plan.copied_bytes, 3 * kRow);
}

TEST(Plan, DoesNotCopyForASecondConsumerOfTheSameOrder) {
  ProblemBuilder builder;
  const std::int32_t map = builder.map(kRow);
  const std::int32_t first = builder.product(kRow, {kRow});
  const std::int32_t second = builder.product(kRow, {kRow});
  for (int i = 0; i < 3; ++i) {
    const std::int32_t u = builder.add(map);
    builder.add(first, {u});
    builder.add(second, {u});
  }
  EXPECT_EQ(checked_plan_of(builder.problem).copied_bytes, 0);
}

TEST(Plan, TheFirstConsumerHasTheFirstSay) {
  for (const bool product_first : {true, false}) {
    ProblemBuilder builder;
    const std::int32_t map = builder.map(kRow);
    const std::int32_t product = builder.product(kRow, {kRow});
    const std::int32_t concat = builder.concat({kRow, kRow});
    const std::int32_t split = builder.map(kRow);
    const std::int32_t u = builder.add(map);
    if (product_first) {
      builder.add(concat, {u, builder.add(product, {u})});
    } else {
      const std::int32_t part = builder.add(split, {builder.add(concat, {u, u})});
      builder.add(product, {part});
      builder.add(product, {u});
    }
    const Plan plan = checked_plan_of(varied(builder.problem, Strategy::kNone, Lifetime::kTraining));
    EXPECT_EQ(plan.inside[index(u)] < 0, product_first);
    EXPECT_EQ(plan.copied_bytes, product_first ? 0 : kRow);
  }
}

TEST(Plan, CopiesOperandsFromOutsideAndParts) {
  ProblemBuilder builder;
  const std::int32_t map = builder.map(2 * kRow);
  const std::int32_t product = builder.product(kRow, {kRow});
  for (int i = 0; i < 4; ++i) builder.add(product, {Problem::kOutside});
  for (int i = 0; i < 2; ++i) {
    const std::int32_t u = builder.add(map);
    builder.add_operand(u, true);
    builder.add(product);
  }
  EXPECT_EQ(checked_plan_of(varied(builder.problem, Strategy::kDepth, Lifetime::kAll)).copied_bytes, 6 * kRow);
}

/// Leaves, and cells that merge two states h and c: both h are multiplied, side by side; c is read as it is.
Problem trees_of_cells(Random& random, int count) {
  ProblemBuilder builder;
  const Facts facts{.saved_bytes = 8, .keeps_inputs = 15, .keeps_output = true, .defers = true, .deferred_bytes = 12};
  const std::int32_t leaf = builder.cell(facts, {kRow, kRow}, {}, {});
  const std::int32_t merge = builder.cell(facts, {kRow, kRow}, {kRow, kRow, kRow, kRow}, {0, 0, -1, -1});
  for (int t = 0; t < count; ++t) {
    std::vector<std::int32_t> states;
    for (const auto& children : batch::random_tree(random)) {
      if (batch::is_leaf(children)) {
        states.push_back(builder.add(leaf));
        continue;
      }
      const std::int32_t left = states[index(children[0])];
      const std::int32_t right = states[index(children[1])];
      for (const std::int32_t h : {left, right}) builder.add_operand(h, false);
      for (const std::int32_t c : {left, right}) builder.add_further_operand(c);
      states.push_back(builder.add(merge));
    }
    builder.problem.is_output[index(states.back())] = 1;
  }
  return builder.problem;
}

TEST(Plan, OfTreesOfCellsCopiesNoChildrenAndLaysThemSideBySide) {
  Random random(8);
  const Problem problem = trees_of_cells(random, 20);
  for (Strategy strategy : kStrategies)
    for (Lifetime lifetime : kLifetimes) {
      SCOPED_TRACE(::testing::Message() << name_of(strategy) << ", lifetime " << static_cast<int>(lifetime));
      const Plan plan = checked_plan_of(varied(problem, strategy, lifetime));
      EXPECT_EQ(plan.copied_bytes, 0);
      for (std::int32_t v = 0; v < problem.size(); ++v) {
        if (facts_of(problem, v).blocks == 0) continue;
        const std::int32_t left = problem.inputs[index(problem.input_begin[index(v)])];
        const std::int32_t right = problem.inputs[index(problem.input_begin[index(v)]) + 1];
        EXPECT_EQ(plan.piece[index(left)], plan.piece[index(right)]);
        EXPECT_EQ(plan.within[index(right)], plan.within[index(left)] + kRow);
      }
    }
}

TEST(Plan, OfCellsCopiesFurtherResultsThatAreMultiplied) {
  ProblemBuilder builder;
  const std::int32_t cell = builder.cell({}, {kRow, kRow, kRow}, {}, {});
  const std::int32_t product = builder.product(kRow, {kRow});
  for (int i = 0; i < 10; ++i) {
    builder.add_further_operand(builder.add(cell));
    builder.add(product);
  }
  const Plan plan = checked_plan_of(builder.problem);
  EXPECT_EQ(plan.steps(), 2);
  EXPECT_EQ(plan.copied_bytes, 10 * kRow);
}

TEST(Plan, OfCellsLeavesNothingForBackwardWhereThereIsNone) {
  Random random(9);
  const Problem problem = trees_of_cells(random, 3);
  const Plan training = plan_of(varied(problem, Strategy::kFrontier, Lifetime::kTraining));
  const Plan finish = plan_of(varied(problem, Strategy::kFrontier, Lifetime::kFinish));
  for (std::int64_t at : finish.saved_at) EXPECT_EQ(at, -1);
  EXPECT_LT(finish.values.bytes, training.values.bytes);
}

TEST(Plan, OfCellsGathersRowsInsteadOfCopyingThem) {
  ProblemBuilder builder;
  const std::int32_t cell = builder.cell({}, {kRow}, {kRow}, {0});
  const std::int32_t product = builder.product(kRow, {kRow});
  for (int i = 0; i < 3; ++i) {
    builder.add(cell, {Problem::kOutside});
    builder.add(product, {Problem::kOutside});
  }
  const Plan plan = checked_plan_of(builder.problem);
  EXPECT_EQ(plan.copied_bytes, 3 * kRow) << "for the products";
}

/// What a sequence begins with comes from outside. In training it is copied before the states of the other steps, so
/// that what the gradient of the weights reads is one matrix; elsewhere, and where most comes from outside, it is
/// gathered.
TEST(Plan, OfCellsCompletesBlocksThatMostStepsHave) {
  ProblemBuilder builder;
  const std::int32_t cell = builder.cell({.keeps_inputs = 1}, {kRow}, {kRow}, {0});
  for (int i = 0; i < 3; ++i) {
    std::int32_t last = Problem::kOutside;
    for (int t = 0; t < 5; ++t) last = builder.add(cell, {last});
  }
  const Plan training = checked_plan_of(varied(builder.problem, Strategy::kFrontier, Lifetime::kTraining));
  EXPECT_EQ(training.copied_bytes, 3 * kRow);
  ASSERT_EQ(training.blocks.size(), 5U);
  for (std::size_t b = 1; b < training.blocks.size(); ++b)
    EXPECT_EQ(training.values.at[index(training.blocks[b].piece)],
              training.values.at[index(training.blocks[b - 1].piece)] + 3 * kRow);
  EXPECT_EQ(checked_plan_of(varied(builder.problem, Strategy::kFrontier, Lifetime::kFinish)).copied_bytes, 0);
  for (int i = 0; i < 20; ++i) builder.add(cell, {Problem::kOutside});
  EXPECT_EQ(checked_plan_of(varied(builder.problem, Strategy::kFrontier, Lifetime::kTraining)).copied_bytes, 0);
}

TEST(Problem, HashesTellProblemsApart) {
  Random random(7);
  const Problem one = RandomProblem(random, 50, 4).problem();
  Problem other = one;
  EXPECT_EQ(hash_of(one), hash_of(other));
  other.is_output[20] ^= 1;
  EXPECT_NE(hash_of(one), hash_of(other));
  other = one;
  other.lifetime = Lifetime::kFinish;
  EXPECT_NE(hash_of(one), hash_of(other));
}

}  // namespace
}  // namespace espalier::plan
