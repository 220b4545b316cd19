/// Dependency trees from heads: children come first and side by side, the root last.
#include "espalier/models/dependency_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "espalier/base/error.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DependencyTrees, NumberNodesFromTheLastLevelUp) {
  const DependencyTree tree = dependency_tree(std::vector{2, 0, 5, 5, 2});
  std::vector<std::int32_t> words;
  for (const DependencyTree::Node& node : tree.nodes) words.push_back(node.word);
  EXPECT_THAT(words, ElementsAre(3, 2, 4, 0, 1));
  EXPECT_THAT(tree.nodes[0].children, IsEmpty());
  EXPECT_THAT(tree.nodes[2].children, ElementsAre(1, 0));
  EXPECT_THAT(tree.nodes[4].children, ElementsAre(3, 2));
}

TEST(DependencyTrees, MayBeVeryDeep) {
  std::vector<std::int32_t> heads(100'000);
  std::iota(heads.begin(), heads.end(), 0);
  const DependencyTree tree = dependency_tree(heads);
  EXPECT_EQ(tree.nodes.back().word, 0);
  EXPECT_THAT(tree.nodes.back().children, ElementsAre(99'998));
}

TEST(DependencyTrees, RefuseHeadsThatAreNotOneTree) {
  const auto refusal = [](const std::vector<std::int32_t>& heads) {
    return refusal_of<UsageError>([&] { dependency_tree(heads); });
  };
  EXPECT_EQ(refusal({0, 0}), "dependencies: expected one root, but word 1 is one and word 2 another");
  EXPECT_EQ(refusal({2, 1}), "dependencies: expected heads without a cycle, but word 2 is its own ancestor");
  EXPECT_EQ(refusal({3}), "dependencies: expected a head from 0 to 1, not 3");
}

}  // namespace
}  // namespace espalier::models
