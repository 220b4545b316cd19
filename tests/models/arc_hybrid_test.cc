/// ArcHybrid: moves, their costs, and trees that are not projective.
#include "espalier/models/arc_hybrid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"

namespace espalier::models {
namespace {

using ::testing::ElementsAre;
using Heads = std::vector<std::int32_t>;

/// A tree with one root, drawn: projective or not.
Heads random_tree(Random& random, std::int32_t words) {
  Heads heads(static_cast<std::size_t>(words) + 1, 0);
  std::vector<std::int32_t> order;
  for (std::int32_t w = 1; w <= words; ++w) order.push_back(w);
  random.shuffle(std::span<std::int32_t>(order));
  heads[static_cast<std::size_t>(order[0])] = words + 1;
  for (std::size_t i = 1; i < order.size(); ++i)
    heads[static_cast<std::size_t>(order[i])] =
        order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))];
  return heads;
}

Heads parse_by_oracle(const Heads& heads) {
  ArcHybrid state(static_cast<std::int32_t>(heads.size()) - 1);
  std::int32_t moves = 0;
  for (; !state.is_done(); ++moves) state.make(oracle_move(state, heads));
  EXPECT_EQ(moves, 2 * state.words());
  return {state.heads().begin(), state.heads().end()};
}

TEST(ArcHybrid, TheOracleMakesEveryProjectiveTree) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const Heads tree = made_projective(random_tree(random, 1 + static_cast<std::int32_t>(random.below(12))));
    ASSERT_TRUE(is_projective(tree));
    EXPECT_EQ(parse_by_oracle(tree), tree);
  }
}

TEST(ArcHybrid, ProjectiveTreesStayAsTheyAre) {
  const Heads tree{0, 2, 4, 2, 5, 6};
  EXPECT_TRUE(is_projective({tree.data(), 5}));
  EXPECT_THAT(made_projective({tree.data(), 5}), ElementsAre(0, 2, 4, 2, 5));
}

/// 1 <- 3 crosses 2 -> 4.
TEST(ArcHybrid, TheShortestCrossingArcIsLifted) {
  const Heads crossing{0, 3, 5, 2, 2};
  EXPECT_FALSE(is_projective(crossing));
  EXPECT_THAT(made_projective(crossing), ElementsAre(0, 2, 5, 2, 2));
}

/// The fewest arcs that any sequence of moves from here loses, found by trying all.
std::int32_t best_possible(const ArcHybrid& state, const Heads& tree) {
  if (state.is_done()) {
    std::int32_t wrong = 0;
    for (std::size_t w = 1; w < tree.size(); ++w) wrong += tree[w] == 0 || state.heads()[w] == tree[w] ? 0 : 1;
    return wrong;
  }
  std::int32_t best = std::numeric_limits<std::int32_t>::max();
  for (const ArcHybrid::Move move : {ArcHybrid::kShift, ArcHybrid::kLeft, ArcHybrid::kRight}) {
    if (!state.allows(move)) continue;
    ArcHybrid next = state;
    next.make(move);
    best = std::min(best, best_possible(next, tree));
  }
  return best;
}

/// In states that random moves lead to, the cost of a move is how many more arcs must be lost after it. The arc from
/// the root is left out: costs do not know that there is only one.
TEST(ArcHybrid, CostsAreTheArcsThatAMoveLoses) {
  Random random(2);
  int compared = 0;
  for (int i = 0; i < 60; ++i) {
    Heads tree = made_projective(random_tree(random, 5));
    std::replace(tree.begin(), tree.end(), 6, 0);
    ArcHybrid state(5);
    while (!state.is_done()) {
      std::vector<ArcHybrid::Move> allowed;
      for (const ArcHybrid::Move move : {ArcHybrid::kShift, ArcHybrid::kLeft, ArcHybrid::kRight})
        if (state.allows(move)) allowed.push_back(move);
      const std::int32_t before = best_possible(state, tree);
      for (const ArcHybrid::Move move : allowed) {
        ArcHybrid next = state;
        next.make(move);
        EXPECT_EQ(state.cost(move, tree), best_possible(next, tree) - before);
        ++compared;
      }
      state.make(allowed[static_cast<std::size_t>(random.below(std::ssize(allowed)))]);
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(ArcHybrid, EveryParseIsATreeWithOneRoot) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    ArcHybrid state(1 + static_cast<std::int32_t>(random.below(9)));
    while (!state.is_done()) {
      const auto move = static_cast<ArcHybrid::Move>(random.below(ArcHybrid::kMoves));
      if (state.allows(move))
        state.make(move);
      else
        EXPECT_THROW(state.make(move), UsageError);
    }
    EXPECT_EQ(std::count(state.heads().begin(), state.heads().end(), state.root()), 1);
    EXPECT_TRUE(is_projective(state.heads()));
  }
}

TEST(ArcHybrid, RefusesASentenceWithoutWords) { EXPECT_THROW(ArcHybrid(0), UsageError); }

}  // namespace
}  // namespace espalier::models
