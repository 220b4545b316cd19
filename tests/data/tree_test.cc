/// Flat trees: building, reading, printing, and depth.
#include "espalier/data/tree.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/support/refusal.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;

constexpr std::array<std::string_view, 4> kWords = {"a", "b", "c", "d"};

TEST(Tree, NodesAreInPostOrder) {
  TreeBuilder builder;
  builder.leaf(0, 7);
  builder.leaf(1);
  builder.leaf(2);
  builder.node(2, 8);
  builder.leaf(3);
  builder.node(3, 9, 1);
  const Tree tree = builder.finish();
  EXPECT_EQ(tree.size(), 6);
  EXPECT_EQ(tree.root(), 5);
  EXPECT_EQ(tree.leaf_count(), 4);
  EXPECT_EQ(std::vector(tree.children(5).begin(), tree.children(5).end()), (std::vector<std::int32_t>{0, 3, 4}));
  EXPECT_EQ(std::vector(tree.children(3).begin(), tree.children(3).end()), (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(tree.is_leaf(0));
  EXPECT_TRUE(tree.is_leaf(4));
  EXPECT_FALSE(tree.is_leaf(3));
  EXPECT_EQ(tree.token(2), 2);
  EXPECT_EQ(tree.token(3), kNone);
  EXPECT_EQ(tree.label(0), 7);
  EXPECT_EQ(tree.label(1), kNone);
  EXPECT_EQ(tree.label(3), 8);
  EXPECT_EQ(tree.label(), 9);
  EXPECT_EQ(tree.to_string(kWords), "( b a ( b c ) d )");
}

TEST(Tree, ALeafAloneIsATree) {
  TreeBuilder builder;
  builder.leaf(2);
  builder.set_last_label(4);
  const Tree tree = builder.finish();
  EXPECT_EQ(tree.size(), 1);
  EXPECT_EQ(tree.label(), 4);
  EXPECT_EQ(tree.to_string(kWords), "c");
}

TEST(Tree, ATreeWithoutNodesIsQuiet) {
  const Tree tree;
  EXPECT_EQ(tree.size(), 0);
  EXPECT_EQ(tree.root(), -1);
  EXPECT_EQ(tree.label(), kNone);
  EXPECT_EQ(tree.to_string(kWords), "");
}

TEST(Tree, EqualityComparesStructureTokensAndLabels) {
  const auto make = [](std::int32_t token, std::int32_t label, bool left) {
    TreeBuilder builder;
    builder.leaf(token);
    builder.leaf(1);
    if (left) builder.node(2);
    builder.leaf(2);
    if (!left) builder.node(2);
    builder.node(2, label);
    return builder.finish();
  };
  EXPECT_EQ(make(0, 1, true), make(0, 1, true));
  EXPECT_NE(make(0, 1, true), make(3, 1, true));
  EXPECT_NE(make(0, 1, true), make(0, 2, true));
  EXPECT_NE(make(0, 1, true), make(0, 1, false));
}

TEST(Tree, MistakesAreRefusedWithBothNumbers) {
  TreeBuilder builder;
  EXPECT_EQ(refusal_of([&] { builder.finish(); }), "tree: finish() needs one subtree, 0 are waiting");
  EXPECT_EQ(refusal_of([&] { builder.set_last_label(1); }), "tree: there is no node yet to label");
  builder.leaf(9);
  EXPECT_EQ(refusal_of([&] { builder.node(2); }), "tree: a node of 2 children asked for, 1 subtrees are waiting");
  EXPECT_EQ(refusal_of([&] { builder.node(0); }), "tree: a node of 0 children asked for, 1 subtrees are waiting");
  builder.leaf(1);
  EXPECT_EQ(refusal_of([&] { builder.finish(); }), "tree: finish() needs one subtree, 2 are waiting");
  builder.node(2);
  const Tree tree = builder.finish();
  EXPECT_EQ(refusal_of([&] { tree.to_string(kWords); }), "tree: token 9 of node 0 has no word (4 words given)");
}

TEST(Tree, ABuilderCanBeUsedAgain) {
  TreeBuilder builder;
  builder.leaf(0);
  builder.leaf(1);
  builder.clear();
  builder.leaf(2);
  EXPECT_EQ(builder.finish().to_string(kWords), "c");
  builder.leaf(0);
  builder.leaf(1);
  builder.node(2);
  EXPECT_EQ(builder.finish().to_string(kWords), "( a b )");
}

// Recursion over a million nodes would need far more than this.
void run_on_small_stack(const std::function<void()>& action) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{1} << 20);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&action)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Tree, AMillionNodesInAChainNeedNoStack) {
  run_on_small_stack([] {
    constexpr std::int32_t kInner = 500'000;
    for (const bool left : {true, false}) {
      TreeBuilder builder;
      builder.leaf(0);
      for (std::int32_t i = 0; i < kInner; ++i) {
        builder.leaf(1);
        if (left) builder.node(2);
      }
      for (std::int32_t i = 0; i < kInner && !left; ++i) builder.node(2);
      const Tree tree = builder.finish();
      const Tree copy = tree;
      EXPECT_EQ(tree.size(), 2 * kInner + 1);
      EXPECT_EQ(tree, copy);
      EXPECT_EQ(tree.to_string(kWords).size(), static_cast<std::size_t>(6 * kInner + 1));
    }
  });
}

}  // namespace
}  // namespace espalier::data
