/// Steps that do two instructions at once: members that functions take, and two calls side by side, near the root and
/// far from it.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "tests/blocks/three_ways.h"
#include "tests/support/small_stack.h"

namespace espalier::blocks {
namespace {

struct Numbered {
  std::int64_t before = -1;
  int number = 0;
};

struct Branch : Numbered {
  const Branch* left = nullptr;
  const Branch* right = nullptr;
  double difference = 0;  // what the model should make of it

  bool is_leaf() const { return left == nullptr && right == nullptr; }
};

/// Trees, whose children were made before.
class Wood {
 public:
  const Branch* leaf(int number) {
    Branch& tree = trees_.emplace_back();
    tree.number = number;
    tree.difference = number;
    return &tree;
  }
  const Branch* node(const Branch* left, const Branch* right) {
    Branch& tree = trees_.emplace_back();
    tree.left = left;
    tree.right = right;
    if (left != nullptr && right != nullptr) tree.difference = left->difference - right->difference;
    return &tree;
  }

 private:
  std::deque<Branch> trees_;
};

/// Left less right, so that no two places may be exchanged.
Block differences() {
  Forward tree = forward("tree");
  const Block number = input_transform([](const Branch& each) -> const Numbered& { return each; }) >>
                       get(&Numbered::number) >>
                       [](Graph& graph, int x) { return graph.constant(static_cast<double>(x)); };
  const Block inner = all_of({get(&Branch::left) >> tree(), get(&Branch::right) >> tree()}) >>
                      [](const Expr& left, const Expr& right) { return left - right; };
  tree.resolve_to(one_of(key(&Branch::is_leaf), {{true, number}, {false, inner}}));
  return tree();
}

TEST(Walk, RunsTwoCallsAtEveryDepth) {
  testing::on_8_megabytes([] {
    const Program program(differences());
    Wood wood;
    for (const int length : {2, 99, 100, 101, 102, 250, 100'000}) {
      const Branch* leaning_left = wood.leaf(5);
      const Branch* leaning_right = wood.leaf(7);
      for (int i = 1; i < length; ++i) {
        leaning_left = wood.node(leaning_left, wood.leaf(i % 3));
        leaning_right = wood.node(wood.leaf(i % 3), leaning_right);
      }
      EXPECT_EQ(program.eval(*leaning_left).item(), leaning_left->difference) << length;
      EXPECT_EQ(program.eval(*leaning_right).item(), leaning_right->difference) << length;
    }
  });
}

TEST(Walk, RunsTwoCallsInTreesOfAnyShape) {
  const Program program(differences());
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    Wood wood;
    std::vector<const Branch*> roots;
    for (int i = 0; i < 400; ++i) roots.push_back(wood.leaf(i % 10));
    // Joins neighbours: some trees become deep, others flat.
    while (roots.size() > 1) {
      const auto at = static_cast<std::size_t>(random.uniform(0, round % 2 == 0 ? 3 : 400)) % (roots.size() - 1);
      roots[at] = wood.node(roots[at], roots[at + 1]);
      roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    ASSERT_EQ(program.eval(*roots[0]).item(), roots[0]->difference) << round;
  }
}

TEST(Walk, GoesOnAfterWhatItRefused) {
  const Program program(differences());
  Wood wood;
  const Branch* bad = wood.node(wood.leaf(1), nullptr);
  for (int i = 0; i < 300; ++i) bad = i % 2 == 0 ? wood.node(bad, wood.leaf(1)) : wood.node(wood.leaf(1), bad);
  const Branch* good = wood.node(wood.node(wood.leaf(1), wood.leaf(2)), wood.leaf(3));
  for (int i = 0; i < 3; ++i) {
    const std::string text = testing::refusal_of([&] { program.eval(*bad); });
    EXPECT_TRUE(text.starts_with("one_of(2 cases): the input is null\n  in tree\n  in instance 0: /member ")) << text;
    EXPECT_NE(text.find("/... 280 more .../"), std::string::npos) << text;  // of 300 steps, ten at each end are shown
    EXPECT_EQ(program.eval(*good).item(), good->difference);
  }
}

TEST(Walk, RefusesAMemberOfNothingByItsOwnName) {
  struct Holder {
    const Numbered* numbered = nullptr;
  };
  const Program program(get(&Holder::numbered) >> get(&Numbered::number) >>
                        [](Graph& graph, int x) { return graph.constant(static_cast<double>(x)); });
  const Numbered seven{.before = 0, .number = 7};
  EXPECT_EQ(program.eval(Holder{&seven}).item(), 7);
  EXPECT_EQ(testing::refusal_of([&] { program.eval(Holder{}); }), "get(member): the input is null\n  in instance 0");
}

}  // namespace
}  // namespace espalier::blocks
