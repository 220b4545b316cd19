/// Recursion: declarations, depth, shared nodes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/tree_lstm.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"
#include "tests/support/small_stack.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::expect_gradients;
using testing::expect_three_ways;

Value leaf(double x) { return Value::map({{"kind", "leaf"}, {"x", x}}); }
Value node(Value left, Value right) {
  return Value::map({{"kind", "node"}, {"left", std::move(left)}, {"right", std::move(right)}});
}

Forward sum_of_leaves() {
  Forward tree = forward("tree");
  tree.resolve_to(one_of(key("kind"), {{"leaf", get("x") >> scalar()},
                                       {"node", record({{"left", tree()}, {"right", tree()}}) >> function(add)}}));
  return tree;
}

TEST(Forward, RecursOverTrees) {
  expect_three_ways(sum_of_leaves()(), {{leaf(3), 3}, {node(leaf(1), node(leaf(2), leaf(4))), 7}});
}

TEST(Forward, FindsTypesThroughTheRecursion) {
  const Forward tree = sum_of_leaves();
  EXPECT_EQ(tree().output_type().to_text(), "float[]");
  EXPECT_EQ(tree().input_text(), "?");
}

TEST(Forward, MayBeMutual) {
  // Lists in lists: even levels are added up, odd ones multiplied.
  Forward sums = forward("sums");
  Forward products = forward("products");
  const auto is_list = key([](const Value& value) { return value.is_list(); });
  const auto is_list_too = key([](const Value& value) { return value.is_list(); });
  sums.resolve_to(one_of(is_list, {{true, map(products()) >> reduce(add)}, {false, scalar()}}));
  products.resolve_to(
      one_of(is_list_too, {{true, map(sums()) >> reduce([](Expr a, Expr b) { return a * b; })}, {false, scalar()}}));
  expect_three_ways(sums(), {{Value::list({1, Value::list({2, 5}), Value::list({3, Value::list({1, 1})})}), 17}});
}

TEST(Forward, BinaryTreeLstmAgreesWithPlainCodeToTheBit) {
  Model model;
  const nn::Embedding words(model / "words", 5, 3);
  const nn::BinaryTreeLstm cell(model / "cell", 3, 4);
  Forward tree = forward("tree");
  const Block word = get("x") >> embedding(words) >> [cell](Expr x) { return cell.leaf(x); };
  tree.resolve_to(
      one_of(key("kind"), {{"leaf", word}, {"node", record({{"left", tree()}, {"right", tree()}}) >> cell}}));
  const auto word_leaf = [](int x) { return Value::map({{"kind", "leaf"}, {"x", x}}); };
  const Value input = node(node(word_leaf(1), word_leaf(2)), word_leaf(4));
  Graph graph({.training = false});
  const auto l = [&](int x) { return cell.leaf(words(graph, x)); };
  const nn::TreeState plain = cell(cell(l(1), l(2)), l(4));
  EXPECT_EQ(eval(tree(), input)[0].leaf(), plain.h.value());
  expect_gradients(model, tree(), {input, word_leaf(3), node(word_leaf(0), word_leaf(0))});
}

Value chain(int length) {
  Value deep = leaf(1);
  for (int i = 1; i < length; ++i) deep = node(std::move(deep), leaf(1));
  return deep;
}

TEST(Forward, DepthIsNoLimit) {
  testing::on_8_megabytes([] {
    const Program program(sum_of_leaves()());
    EXPECT_EQ(program.eval(chain(10'000)).item(), 10'000);
    EXPECT_EQ(program.eval(chain(1'000'000)).item(), 1'000'000);
  });
}

struct Dag {
  double x = 0;
  std::vector<std::shared_ptr<Dag>> children;
};

/// Every node is the sum of its number and its children.
Block sum_of_dag(bool once) {
  Forward dag = forward("dag");
  static_cast<void>(dag().gives(Shape{}));  // a sum of sums: nothing in it says of what
  const Block whole =
      all_of({get(&Dag::x) >> scalar(), get(&Dag::children) >> map(dag()) >> child_sum()}) >> function(add);
  dag.resolve_to(once ? shared(whole) : whole);
  return dag();
}

TEST(Shared, ComputesANodeOfADagOnce) {
  auto top = std::make_shared<Dag>(Dag{1, {}});
  constexpr int kLevels = 20;
  for (int i = 0; i < kLevels; ++i) top = std::make_shared<Dag>(Dag{0, {top, top}});
  Graph graph;
  const Program program(sum_of_dag(true));
  EXPECT_EQ(program.record(graph, top).leaf().scalar(), 1 << kLevels);
  EXPECT_LT(graph.size(), 5 * kLevels) << "a million nodes without sharing";
}

TEST(Shared, GivesTheSameAsWithout) {
  auto leaf_node = std::make_shared<Dag>(Dag{3, {}});
  auto middle = std::make_shared<Dag>(Dag{1, {leaf_node, leaf_node}});
  const Dag top{5, {middle, leaf_node, middle}};
  EXPECT_EQ(eval(sum_of_dag(true), top).item(), eval(sum_of_dag(false), top).item());
}

TEST(Shared, RefusesACircle) {
  auto first = std::make_shared<Dag>(Dag{1, {}});
  auto second = std::make_shared<Dag>(Dag{2, {first}});
  const Dag top{3, {second, first}};
  const Program program(sum_of_dag(true));
  first->children.push_back(second);
  EXPECT_EQ(testing::refusal_of([&] { program.eval(top); }),
            "shared(): the data contain a cycle: the result of this part is needed to compute it\n  in dag\n  in "
            "instance 0: /member 2/0/member 1");
  first->children.clear();  // the same program goes on; nothing is left of what had begun
  EXPECT_EQ(program.eval(top).item(), 3 + 2 + 1 + 1);
}

TEST(Shared, KnowsValuesByTheirPayload) {
  Forward dag = forward("dag");
  dag.resolve_to(shared(one_of(key("kind"), {{"leaf", get("x") >> scalar()},
                                             {"node", record({{"left", dag()}, {"right", dag()}}) >> function(add)}})));
  Value top = leaf(1);
  for (int i = 0; i < 20; ++i) top = node(top, top);
  Graph graph;
  EXPECT_EQ(Program(dag()).record(graph, top).leaf().scalar(), 1 << 20);
  EXPECT_LT(graph.size(), 100);
}

TEST(Shared, ForgetsBetweenInstances) {
  const Program program = Program::of<double>(shared(scalar()));
  std::vector<double> same{4};
  std::vector<double> results;
  for (int i = 0; i < 2; ++i) {
    same[0] = 4 + i;
    results.push_back(program.eval(same[0]).item());
  }
  EXPECT_EQ(results, (std::vector<double>{4, 5}));
  Graph graph;
  program.record_all(graph, std::vector<double>{1, 2});
  EXPECT_EQ(graph.size(), 2);
}

TEST(ChildSum, FindsItsTypesFromTheLayer) {
  Model model;
  const nn::ChildSumTreeLstm cell(model / "cell", 2, 3);
  Forward tree = forward("tree");
  tree.resolve_to(all_of({get("x") >> vector(2), get("children") >> map(tree())}) >> child_sum(cell));
  EXPECT_EQ(tree().output_type().to_text(), "(float[3], float[3])");
  const auto make = [](double x, std::vector<Value> children) {
    return Value::map({{"x", Value::list({x, 1 - x})}, {"children", Value::list(std::move(children))}});
  };
  expect_gradients(model, tree(),
                   {make(0.1, {}), make(0.2, {make(0.3, {}), make(0.4, {make(0.5, {})}), make(0.6, {})})});
}

}  // namespace
}  // namespace espalier::blocks
