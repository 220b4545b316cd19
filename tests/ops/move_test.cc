/// What the conformance tests cannot know of ops that move elements: how a user may write them, and that they undo each
/// other.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

Expr counted(Graph& graph, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 1.0F);
  return graph.input(shape, values);
}

std::string first_line_of_refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "accepted";
}

TEST(Concat, IsUndoneBySlices) {
  Graph graph;
  const Expr x = counted(graph, {3, 4, 5});
  for (std::int32_t axis = 0; axis < 3; ++axis) {
    const std::int32_t size = x.shape()[axis];
    const Expr first = slice(x, 0, 1, axis);
    const Expr rest = slice(x, 1, size, axis);
    EXPECT_EQ(concat({first, rest}, axis).value(), x.value());
    EXPECT_EQ(concat({first, rest}, axis - 3).value(), x.value());
  }
}

TEST(Concat, TakesTheSameNodeTwice) {
  Graph graph;
  const Expr x = counted(graph, {2});
  const Expr y = concat({x, x});
  const Expr weights = counted(graph, {4});
  dot(y, weights).backward({.into = nullptr, .wanted = {x}});
  EXPECT_EQ(x.grad(), Tensor({2}, {4, 6}));
}

TEST(Slice, TakesANegativeAxis) {
  Graph graph;
  const Expr x = counted(graph, {2, 3});
  EXPECT_EQ(slice(x, 1, 3, -1).value(), Tensor({2, 2}, {2, 3, 5, 6}));
  EXPECT_EQ(slice(x, 1, 2).value(), Tensor({1, 3}, {4, 5, 6}));
  EXPECT_EQ(first_line_of_refusal([&] { slice(x, 0, 1, -3); }), "slice: axis -3 is outside x [2, 3] (rank 2)");
}

TEST(Slice, MayBeEmpty) {
  Graph graph;
  const Expr x = counted(graph, {3});
  const Expr nothing = slice(x, 1, 1);
  EXPECT_EQ(nothing.shape(), Shape({0}));
  EXPECT_EQ(concat({nothing, x}).value(), x.value());
}

TEST(Stack, MayPutTheNewAxisLast) {
  Graph graph;
  const Expr a = counted(graph, {2});
  const Expr b = scale(a, 10);
  EXPECT_EQ(stack({a, b}, -1).value(), Tensor({2, 2}, {1, 10, 2, 20}));
  EXPECT_EQ(stack({a, b}, -2).value(), stack({a, b}).value());
  EXPECT_EQ(first_line_of_refusal([&] { stack({a, b}, -3); }), "stack: axis -3 is outside the result (rank 2)");
}

TEST(Stack, OfRowsGivesThemBack) {
  Graph graph;
  std::vector<Expr> rows;
  for (int i = 0; i < 5; ++i) rows.push_back(scale(counted(graph, {3}), i));
  const Expr matrix = stack(rows);
  for (std::int32_t i = 0; i < 5; ++i)
    EXPECT_EQ(flatten(slice(matrix, i, i + 1)).value(), rows[static_cast<std::size_t>(i)].value());
}

TEST(Transpose, TwiceGivesTheSameMatrix) {
  Graph graph;
  const Expr x = counted(graph, {3, 5});
  EXPECT_EQ(transpose(transpose(x)).value(), x.value());
  EXPECT_EQ(transpose(x).value(), transpose(x, {1, 0}).value());
  EXPECT_EQ(transpose(x).value(), transpose(x, {-1, 0}).value());
}

TEST(Transpose, PutsAxesInAnyOrder) {
  Graph graph;
  const Expr x = counted(graph, {2, 3, 4});
  const Tensor y = transpose(x, {2, 0, 1}).value();
  ASSERT_EQ(y.shape(), Shape({4, 2, 3}));
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(y.at((k * 2 + i) * 3 + j), x.value().at((i * 3 + j) * 4 + k));
}

TEST(Transpose, RefusesMoreAxesThanThereAre) {
  Graph graph;
  const Expr x = counted(graph, {1, 2, 3, 4});
  EXPECT_EQ(first_line_of_refusal([&] {
              transpose(x, {0, 1, 2, 3, 0});
            }),
            "transpose: x must have rank 5, and [1, 2, 3, 4] has rank 4");
}

TEST(Reshape, KeepsTheOrderOfElements) {
  Graph graph;
  const Expr x = counted(graph, {2, 3});
  EXPECT_EQ(reshape(x, {3, 2}).value(), x.value().reshaped({3, 2}));
  EXPECT_EQ(flatten(x).value(), x.value().reshaped({6}));
}

TEST(Flatten, LeavesAVectorAsItIs) {
  Graph graph;
  const Expr x = counted(graph, {3});
  EXPECT_EQ(flatten(x).node(), x.node());
}

TEST(NegativeAxis, OfAStaleOperandIsRefusedInTheNameOfTheOp) {
  Graph graph;
  const Expr x = counted(graph, {3});
  graph.clear();
  EXPECT_EQ(first_line_of_refusal([&] { sum(x, -1); }), "sum_axis: x belongs to a graph that was cleared or destroyed");
  EXPECT_EQ(first_line_of_refusal([&] { concat({x}, -1); }),
            "concat: x[0] belongs to a graph that was cleared or destroyed");
}

}  // namespace
}  // namespace espalier
