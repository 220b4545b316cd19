#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_gru.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/add.h"
#include "tests/support/gradient_check.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"

namespace espalier::nn {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::check_gradients;
using espalier::testing::expect_value;
using espalier::testing::parameters_of;
using espalier::testing::randomise;
using espalier::testing::refusal_of;
using espalier::testing::sigma;
using espalier::testing::Vec;
using espalier::testing::vector_input;
using espalier::testing::Weights;
using ::testing::HasSubstr;
using testing::here;
using ::testing::StartsWith;

const Vec kA{0.3, -0.6, 0.9};
const Vec kB{-1.1, 0.2, 0.5};
const Vec kC{0.7, 0.4, -0.8};
const Vec kAtNode{0.6, -0.9};

struct ScalarState {
  Vec h, c;
};

void expect_state(const TreeState& given, const ScalarState& expected, double tolerance = 1e-12) {
  expect_value(given.h, expected.h, tolerance);
  expect_value(given.c, expected.c, tolerance);
}

// --- N-ary -----------------------------------------------------------------------------------------------------------

ScalarState scalar_leaf(const Weights& w, const Vec& x, std::size_t n) {
  ScalarState out{Vec(n), Vec(n)};
  const auto gate = [&](std::size_t number, std::size_t j) {
    return w.product(x, "leaf.W", number * n + j) + w.at("leaf.b", number * n + j);
  };
  for (std::size_t j = 0; j < n; ++j) {
    out.c[j] = sigma(gate(0, j)) * std::tanh(gate(2, j));
    out.h[j] = sigma(gate(1, j)) * std::tanh(out.c[j]);
  }
  return out;
}

ScalarState scalar_node(const Weights& w, const std::vector<ScalarState>& children, const Vec& x = {}) {
  const std::size_t n = children[0].h.size();
  ScalarState out{Vec(n), Vec(n)};
  const auto gate = [&](std::size_t number, std::size_t j) {
    const std::size_t column = number * n + j;
    double total = w.at("b", column);
    if (!x.empty()) total += w.product(x, "W", column);
    for (std::size_t k = 0; k < children.size(); ++k) total += w.product(children[k].h, "U", column, k * n);
    return total;
  };
  for (std::size_t j = 0; j < n; ++j) {
    out.c[j] = sigma(gate(0, j)) * std::tanh(gate(2 + children.size(), j));
    for (std::size_t k = 0; k < children.size(); ++k) out.c[j] += sigma(gate(2 + k, j)) * children[k].c[j];
    out.h[j] = sigma(gate(1, j)) * std::tanh(out.c[j]);
  }
  return out;
}

TEST(BinaryTreeLstm, FollowsItsEquations) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", 3, 4);
  EXPECT_EQ(parameters_of(model), "cell.leaf.W [3, 12], cell.leaf.b [12], cell.U [8, 20], cell.b [20]");
  EXPECT_EQ(model.count(), 36 + 12 + 160 + 20);
  EXPECT_EQ(cell.hidden(), 4);
  randomise(model);
  const Weights w(model, "cell");
  Graph g;
  const TreeState a = cell.leaf(vector_input(g, kA));
  const TreeState b = cell.leaf(vector_input(g, kB));
  const TreeState c = cell.leaf(vector_input(g, kC));
  const ScalarState scalar_a = scalar_leaf(w, kA, 4);
  const ScalarState scalar_b = scalar_leaf(w, kB, 4);
  const ScalarState scalar_c = scalar_leaf(w, kC, 4);
  expect_state(a, scalar_a);
  expect_state(cell(a, cell(b, c)), scalar_node(w, {scalar_a, scalar_node(w, {scalar_b, scalar_c})}));
}

TEST(BinaryTreeLstm, WorksInFloat32) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", 3, 4);
  const Weights w(model, "cell");
  Graph g;
  const TreeState a = cell.leaf(vector_input(g, kA, DType::kFloat32));
  const TreeState b = cell.leaf(vector_input(g, kB, DType::kFloat32));
  EXPECT_EQ(a.h.dtype(), DType::kFloat32);
  expect_state(cell(a, b), scalar_node(w, {scalar_leaf(w, kA, 4), scalar_leaf(w, kB, 4)}), 1e-6);
}

TEST(BinaryTreeLstm, TakesInputsAtInnerNodesIfAsked) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", 3, 4, {.node_input = 2});
  EXPECT_EQ(parameters_of(model), "cell.leaf.W [3, 12], cell.leaf.b [12], cell.U [8, 20], cell.b [20], cell.W [2, 20]");
  randomise(model);
  const Weights w(model, "cell");
  Graph g;
  const TreeState a = cell.leaf(vector_input(g, kA));
  const TreeState b = cell.leaf(vector_input(g, kB));
  expect_state(cell(vector_input(g, kAtNode), a, b),
               scalar_node(w, {scalar_leaf(w, kA, 4), scalar_leaf(w, kB, 4)}, kAtNode));
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { cell(a, b); });
  EXPECT_EQ(text, "tree lstm: nodes of this cell have an input, and none is given\n  U: parameter \"cell.U\"\n  at " +
                      here(line));
}

TEST(BinaryTreeLstm, HasGradientsThroughTheTree) {
  for (const std::int32_t node_input : {0, 2}) {
    Model model;
    const BinaryTreeLstm cell(model / "cell", 3, 2, {.node_input = node_input});
    randomise(model);
    check_gradients(model, [&](Graph& g) {
      const auto join = [&](const TreeState& left, const TreeState& right) {
        return node_input == 0 ? cell(left, right) : cell(vector_input(g, kAtNode), left, right);
      };
      const TreeState a = cell.leaf(vector_input(g, kA));
      const TreeState b = cell.leaf(vector_input(g, kB));
      const TreeState root = join(join(a, b), cell.leaf(vector_input(g, kC)));
      return asymmetric_sum(root.h) + asymmetric_sum(root.c);
    });
  }
}

TEST(BinaryTreeLstm, RemembersBothChildrenAtFirst) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", 3, 1);
  const std::span<const float> b = model.parameter("cell.b").value().as<float>();
  EXPECT_THAT(std::vector<float>(b.begin(), b.end()), ::testing::ElementsAre(0, 0, 1, 1, 0));
}

TEST(BinaryTreeLstm, NamesTheCallersLineForAStateOfAnotherSize) {
  Model model;
  const BinaryTreeLstm cell(model / "cell", 3, 4);
  const BinaryTreeLstm larger(model / "larger", 3, 5);
  Graph g;
  const Expr x = g.constant({3}, 1);
  const TreeState a = cell.leaf(x);
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { larger(a, a); });
  EXPECT_THAT(text, StartsWith("affine: size of x (8) and rows of W (10) differ"));
  EXPECT_THAT(text, HasSubstr("\"larger.U\""));
  EXPECT_THAT(text, HasSubstr("at " + here(line)));
  const std::string wrong_leaf = refusal_of([&] { cell.leaf(a.h); });
  EXPECT_THAT(wrong_leaf, HasSubstr("at " + here(line + 4)));
}

TEST(NaryTreeLstm, WithTwoChildrenIsTheBinaryOne) {
  Model model;
  const BinaryTreeLstm binary(model / "binary", 3, 4);
  const NaryTreeLstm nary(model / "nary", 3, 4, 2);
  randomise(model);
  for (const char* name : {"leaf.W", "leaf.b", "U", "b"})
    model.parameter(std::string("nary.") + name).replace_value(model.parameter(std::string("binary.") + name).value());
  Graph g;
  const Expr x = vector_input(g, kA);
  const Expr y = vector_input(g, kB);
  const TreeState one = binary(binary.leaf(x), binary.leaf(y));
  const TreeState other = nary({nary.leaf(x), nary.leaf(y)});
  EXPECT_EQ(one.h.value(), other.h.value());
  EXPECT_EQ(one.c.value(), other.c.value());
}

TEST(NaryTreeLstm, FollowsItsEquationsAndTakesMissingChildrenAsZeros) {
  Model model;
  const NaryTreeLstm cell(model / "cell", 3, 4, 3);
  EXPECT_EQ(parameters_of(model), "cell.leaf.W [3, 12], cell.leaf.b [12], cell.U [12, 24], cell.b [24]");
  EXPECT_EQ(cell.children(), 3);
  randomise(model);
  const Weights w(model, "cell");
  Graph g;
  const TreeState a = cell.leaf(vector_input(g, kA));
  const TreeState b = cell.leaf(vector_input(g, kB));
  const TreeState c = cell.leaf(vector_input(g, kC));
  const ScalarState scalar_a = scalar_leaf(w, kA, 4);
  const ScalarState scalar_b = scalar_leaf(w, kB, 4);
  const ScalarState scalar_c = scalar_leaf(w, kC, 4);
  const ScalarState none{Vec(4), Vec(4)};
  expect_state(cell({a, b, c}), scalar_node(w, {scalar_a, scalar_b, scalar_c}));
  expect_state(cell({a, b}), scalar_node(w, {scalar_a, scalar_b, none}));
  expect_state(cell({TreeState{}, b}), scalar_node(w, {none, scalar_b, none}));
  expect_state(cell({a, TreeState{}, c}), scalar_node(w, {scalar_a, none, scalar_c}));
}

TEST(NaryTreeLstm, HasGradientsWithMissingChildrenAndInputs) {
  Model model;
  const NaryTreeLstm cell(model / "cell", 3, 2, 3, {.node_input = 2});
  randomise(model);
  check_gradients(model, [&](Graph& g) {
    const TreeState a = cell.leaf(vector_input(g, kA));
    const TreeState b = cell.leaf(vector_input(g, kB));
    const TreeState c = cell.leaf(vector_input(g, kC));
    const TreeState inner = cell(vector_input(g, kAtNode), {a, b, c});
    const TreeState root = cell(vector_input(g, kAtNode), {TreeState{}, inner});
    return asymmetric_sum(root.h) + asymmetric_sum(root.c);
  });
}

TEST(NaryTreeLstm, RefusesTooManyChildrenAndNone) {
  Model model;
  const NaryTreeLstm cell(model / "cell", 3, 4, 2);
  Graph g;
  const TreeState a = cell.leaf(g.constant({3}, 1));
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { cell({a, a, a}); });
  EXPECT_EQ(text,
            "tree lstm: 3 children are given, and the cell takes 2\n  U: parameter \"cell.U\"\n  at " + here(line));
  EXPECT_THAT(refusal_of([&] { cell({}); }),
              StartsWith("tree lstm: no child is given; a node without children is a leaf\n"));
  EXPECT_THAT(refusal_of([&] { cell({TreeState{}, TreeState{}}); }), StartsWith("tree lstm: no child is given"));
  EXPECT_THAT(refusal_of([&] {
                cell(g.constant({3}, 1), {a, a});
              }),
              StartsWith("tree lstm: nodes of this cell have no input, and one is given\n"));
}

// --- child-sum -------------------------------------------------------------------------------------------------------

ScalarState scalar_child_sum(const Weights& w, const Vec& x, const std::vector<ScalarState>& children, std::size_t n) {
  Vec sum(n);
  for (const ScalarState& child : children)
    for (std::size_t j = 0; j < n; ++j) sum[j] += child.h[j];
  const auto gate = [&](std::size_t number, std::size_t j) {
    const std::size_t column = number * n + j;
    return w.product(x, "W", column) + w.product(sum, "U", column) + w.at("b", column);
  };
  ScalarState out{Vec(n), Vec(n)};
  for (std::size_t j = 0; j < n; ++j) {
    out.c[j] = sigma(gate(0, j)) * std::tanh(gate(2, j));
    for (const ScalarState& child : children)
      out.c[j] += sigma(w.product(x, "W_f", j) + w.product(child.h, "U_f", j) + w.at("b_f", j)) * child.c[j];
    out.h[j] = sigma(gate(1, j)) * std::tanh(out.c[j]);
  }
  return out;
}

TEST(ChildSumTreeLstm, FollowsItsEquationsForAnyNumberOfChildren) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", 3, 4);
  EXPECT_EQ(parameters_of(model),
            "cell.W [3, 12], cell.U [4, 12], cell.b [12], cell.W_f [3, 4], cell.U_f [4, 4], cell.b_f [4]");
  EXPECT_EQ(model.count(), 36 + 48 + 12 + 12 + 16 + 4);
  randomise(model);
  const Weights w(model, "cell");
  Graph g;
  const Expr x = vector_input(g, kA);
  const TreeState a = cell.leaf(x);
  const TreeState b = cell(vector_input(g, kB), {});
  const TreeState c = cell(vector_input(g, kC), {a});
  const ScalarState scalar_a = scalar_child_sum(w, kA, {}, 4);
  const ScalarState scalar_b = scalar_child_sum(w, kB, {}, 4);
  const ScalarState scalar_c = scalar_child_sum(w, kC, {scalar_a}, 4);
  expect_state(a, scalar_a);
  expect_state(b, scalar_b);
  expect_state(c, scalar_c);
  expect_state(cell(x, {a, b, c}), scalar_child_sum(w, kA, {scalar_a, scalar_b, scalar_c}, 4));
  expect_state(cell({a, b}), scalar_child_sum(w, Vec(3), {scalar_a, scalar_b}, 4));
}

TEST(ChildSumTreeLstm, DoesNotSeeTheOrderOfChildren) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", 3, 4);
  randomise(model);
  Graph g;
  const Expr x = vector_input(g, kA);
  const TreeState a = cell.leaf(x);
  const TreeState b = cell.leaf(vector_input(g, kB));
  const TreeState c = cell(vector_input(g, kC), {b});
  const TreeState one = cell(x, {a, b, c});
  const TreeState other = cell(x, {c, a, b});
  for (std::int64_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(one.h.value().at(j), other.h.value().at(j), 1e-14);
    EXPECT_NEAR(one.c.value().at(j), other.c.value().at(j), 1e-14);
  }
}

TEST(ChildSumTreeLstm, HasGradientsThroughTheTree) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", 3, 2);
  randomise(model);
  check_gradients(model, [&](Graph& g) {
    const TreeState a = cell.leaf(vector_input(g, kA));
    const TreeState b = cell.leaf(vector_input(g, kB));
    const TreeState c = cell(vector_input(g, kC), {a, b, a});
    const TreeState root = cell({c, b});
    return asymmetric_sum(root.h) + asymmetric_sum(root.c);
  });
}

TEST(ChildSumTreeLstm, RemembersAtFirst) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", 3, 2);
  EXPECT_EQ(model.parameter("cell.b_f").value(), Tensor({2}, {1, 1}));
  EXPECT_EQ(model.parameter("cell.b").value(), Tensor({6}, {0, 0, 0, 0, 0, 0}));
}

TEST(ChildSumTreeLstm, SkipsMissingChildren) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", 3, 3);
  randomise(model);
  Graph g;
  const Expr x = vector_input(g, kA);
  const TreeState a = cell.leaf(vector_input(g, kB));
  const TreeState b = cell.leaf(vector_input(g, kC));
  const auto expect_same = [](const TreeState& given, const TreeState& expected) {
    EXPECT_EQ(given.h.value(), expected.h.value());
    EXPECT_EQ(given.c.value(), expected.c.value());
  };
  expect_same(cell(x, {TreeState{}, a, TreeState{}, b}), cell(x, {a, b}));
  expect_same(cell({a, TreeState{}}), cell({a}));
  expect_same(cell(x, {TreeState{}}), cell.leaf(x));
  expect_same(cell(x, {}), cell.leaf(x));
  EXPECT_THAT(refusal_of([&] { cell({TreeState{}}); }), HasSubstr("neither an input nor a child is given"));
}

TEST(ChildSumTreeLstm, NamesTheCallersLine) {
  Model model;
  const ChildSumTreeLstm cell(model / "cell", 3, 4);
  const ChildSumTreeLstm larger(model / "larger", 3, 5);
  Graph g;
  const Expr x = g.constant({3}, 1);
  const TreeState a = cell.leaf(x);
  const int line = __LINE__ + 1;
  EXPECT_THAT(refusal_of([&] { cell(a.h, {a}); }), HasSubstr("at " + here(line)));
  EXPECT_THAT(refusal_of([&] { larger({a, a}); }), HasSubstr("at " + here(line + 1)));
  EXPECT_THAT(refusal_of([&] { cell.leaf(a.h); }), HasSubstr("at " + here(line + 2)));
  const std::string text = refusal_of([&] { cell({}); });
  EXPECT_EQ(text, "child-sum tree lstm: neither an input nor a child is given\n  U: parameter \"cell.U\"\n  at " +
                      here(line + 3));
}

// --- Tree-GRU --------------------------------------------------------------------------------------------------------

/// What one child gives.
Vec scalar_unit(const Weights& w, const std::string& U, const std::string& N, const std::string& leaf, const Vec& h) {
  const std::size_t n = h.size();
  Vec reset(n);
  for (std::size_t j = 0; j < n; ++j) reset[j] = sigma(w.product(h, U, j) + w.at(leaf + "b", j)) * h[j];
  Vec out(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double z = sigma(w.product(h, U, n + j) + w.at(leaf + "b", n + j));
    out[j] = z * h[j] + (1 - z) * std::tanh(w.product(reset, N, j) + w.at(leaf + "b_n", j));
  }
  return out;
}

Vec scalar_mean(const std::vector<Vec>& rows) {
  Vec mean(rows[0].size());
  for (const Vec& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) mean[j] += row[j] / static_cast<double>(rows.size());
  return mean;
}

TEST(TreeGru, FollowsItsEquations) {
  Model model;
  const TreeGru cell(model / "cell", 3);
  EXPECT_EQ(parameters_of(model),
            "cell.b [6], cell.b_n [3], cell.U_0 [3, 6], cell.N_0 [3, 3], cell.U_1 [3, 6], cell.N_1 [3, 3], "
            "cell.leaf.U [3, 6], cell.leaf.N [3, 3], cell.leaf.b [6], cell.leaf.b_n [3]");
  EXPECT_EQ(cell.hidden(), 3);
  EXPECT_EQ(cell.children(), 2);
  randomise(model);
  const Weights w(model, "cell");
  Graph g;
  const Expr a = cell.leaf(vector_input(g, kA));
  const Expr b = cell.leaf(vector_input(g, kB));
  const Vec scalar_a = scalar_unit(w, "leaf.U", "leaf.N", "leaf.", kA);
  const Vec scalar_b = scalar_unit(w, "leaf.U", "leaf.N", "leaf.", kB);
  expect_value(a, scalar_a);
  expect_value(cell(a, b),
               scalar_mean({scalar_unit(w, "U_0", "N_0", "", scalar_a), scalar_unit(w, "U_1", "N_1", "", scalar_b)}));
}

TEST(TreeGru, TakesAnyFixedNumberOfChildren) {
  Model model;
  const TreeGru cell(model / "cell", 3, {.children = 3});
  randomise(model);
  const Weights w(model, "cell");
  Graph g;
  const Expr a = vector_input(g, kA);
  const Expr b = vector_input(g, kB);
  const Expr c = vector_input(g, kC);
  expect_value(cell({a, b, c}), scalar_mean({scalar_unit(w, "U_0", "N_0", "", kA), scalar_unit(w, "U_1", "N_1", "", kB),
                                             scalar_unit(w, "U_2", "N_2", "", kC)}));
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { cell(a, b); });
  EXPECT_EQ(text,
            "tree gru: 2 children are given, and the cell takes 3\n  b: parameter \"cell.b\"\n  at " + here(line));
}

TEST(TreeGru, HasGradientsThroughTheTree) {
  Model model;
  const TreeGru cell(model / "cell", 3);
  randomise(model);
  check_gradients(model, [&](Graph& g) {
    const Expr a = cell.leaf(vector_input(g, kA));
    const Expr b = cell.leaf(vector_input(g, kB));
    return asymmetric_sum(cell(cell(a, b), cell.leaf(vector_input(g, kC))));
  });
}

TEST(TreeGru, NamesTheCallersLineForAnInputOfAnotherSize) {
  Model model;
  const TreeGru cell(model / "cell", 3);
  Graph g;
  const Expr x = g.constant({4}, 1);
  const int line = __LINE__ + 1;
  EXPECT_THAT(refusal_of([&] { cell.leaf(x); }), HasSubstr("at " + here(line)));
  EXPECT_THAT(refusal_of([&] { cell(x, x); }), HasSubstr("at " + here(line + 1)));
}

}  // namespace
}  // namespace espalier::nn
