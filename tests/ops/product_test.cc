/// What the conformance tests cannot know of products: that shared and own matrices, and equal ways to write a product,
/// give equal results.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"

namespace espalier {
namespace {

/// Numbers without any pattern that a product could be symmetric in.
Tensor irregular(const Shape& shape, double seed) {
  Tensor tensor(shape);
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    tensor.set(i, std::sin(1.7 * static_cast<double>(i) + seed) + 0.3 * std::cos(0.9 * static_cast<double>(i)));
  return tensor;
}

void expect_near(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (std::int64_t i = 0; i < actual.elements(); ++i)
    EXPECT_NEAR(actual.at(i), expected.at(i), 2e-5) << "element " << i;
}

struct Outcome {
  Tensor value;
  std::vector<Tensor> gradients;
};

/// The value of an expression and its gradients by `wanted`.
Outcome outcome(const Expr& y, const std::vector<Expr>& wanted) {
  const Expr weights = y.graph().input(irregular({y.shape().elements()}, 3));
  dot(flatten(y), weights).backward({.into = nullptr, .wanted = wanted});
  Outcome result{y.value(), {}};
  for (const Expr& x : wanted) result.gradients.push_back(x.grad());
  return result;
}

void expect_near(const Outcome& actual, const Outcome& expected) {
  expect_near(actual.value, expected.value);
  ASSERT_EQ(actual.gradients.size(), expected.gradients.size());
  for (std::size_t i = 0; i < actual.gradients.size(); ++i) expect_near(actual.gradients[i], expected.gradients[i]);
}

TEST(Products, GiveTheSameWithAParameterAndWithAnInput) {
  const Parameter W("W", irregular({5, 4}, 1));
  const Parameter b("b", irregular({4}, 2));
  Graph graph;
  const Expr x = graph.input(irregular({5}, 4));
  const Expr own_W = graph.input(W.value());
  const Expr own_b = graph.input(b.value());
  expect_near(affine(x, W, b).value(), affine(x, own_W, own_b).value());
  expect_near(linear(x, W).value(), linear(x, own_W).value());
  const Expr A = graph.input(irregular({3, 5}, 5));
  expect_near(matmul(A, W).value(), matmul(A, own_W).value());
  const Expr v = graph.input(irregular({4}, 6));
  expect_near(matvec(graph.parameter(W), v).value(), matvec(own_W, v).value());
}

TEST(Affine, IsLinearPlusTheBias) {
  Graph graph;
  const Expr x = graph.input(irregular({7}, 1));
  const Expr W = graph.input(irregular({7, 3}, 2));
  const Expr b = graph.input(irregular({3}, 3));
  const Outcome apart = outcome(sum({linear(x, W), b}), {x, W, b});
  expect_near(outcome(affine(x, W, b), {x, W, b}), apart);
}

TEST(Matvec, IsMatmulWithOneColumn) {
  Graph graph;
  const Expr M = graph.input(irregular({6, 5}, 1));
  const Expr v = graph.input(irregular({5}, 2));
  const Outcome apart = outcome(flatten(matmul(M, reshape(v, {5, 1}))), {M, v});
  expect_near(outcome(matvec(M, v), {M, v}), apart);
}

TEST(Matmul, OfTransposesIsTheTransposeInTheOtherOrder) {
  Graph graph;
  const Expr A = graph.input(irregular({3, 5}, 1));
  const Expr B = graph.input(irregular({5, 4}, 2));
  const Outcome turned = outcome(transpose(matmul(transpose(B), transpose(A))), {A, B});
  expect_near(outcome(matmul(A, B), {A, B}), turned);
}

TEST(Matmul, MayMultiplyANodeByItself) {
  Graph graph;
  const Expr A = graph.input(Tensor({2, 2}, {1, 2, 3, 4}));
  const Expr y = matmul(A, A);
  EXPECT_EQ(y.value(), Tensor({2, 2}, {7, 10, 15, 22}));
  sum_elements(y).backward({.into = nullptr, .wanted = {A}});
  EXPECT_EQ(A.grad(), Tensor({2, 2}, {7, 11, 9, 13}));
}

TEST(Matmul, MayHaveNoRows) {
  Graph graph;
  const Expr A = graph.input({0, 3}, std::vector<float>{});
  const Expr B = graph.input(irregular({3, 2}, 1));
  EXPECT_EQ(matmul(A, B).value().shape(), Shape({0, 2}));
}

TEST(Bilinear, IsOneMatrixProductForEveryResult) {
  Graph graph;
  const Expr x = graph.input(irregular({3}, 1));
  const Expr W = graph.input(irregular({3, 4, 5}, 2));
  const Expr z = graph.input(irregular({5}, 3));
  std::vector<Expr> results;
  for (std::int32_t m = 0; m < 4; ++m) results.push_back(dot(linear(x, reshape(slice(W, m, m + 1, 1), {3, 5})), z));
  const Outcome apart = outcome(stack(results), {x, W, z});
  expect_near(outcome(bilinear(x, W, z), {x, W, z}), apart);
}

TEST(Conv1d, IsLinearOverEveryWindow) {
  Graph graph;
  const Expr x = graph.input(irregular({6, 3}, 1));
  const Expr W = graph.input(irregular({6, 4}, 2));
  std::vector<Expr> results;
  for (std::int32_t t = 0; t < 5; ++t) results.push_back(linear(flatten(slice(x, t, t + 2)), W));
  const Outcome apart = outcome(stack(results), {x, W});
  expect_near(outcome(conv1d(x, W), {x, W}), apart);
}

TEST(Conv1d, KeepsTheLengthOfAnySequenceWithZerosAround) {
  Graph graph;
  for (const std::int64_t length : {1, 2, 3, 8})
    for (const std::int64_t width : {1, 2, 3, 6}) {
      const Expr x = graph.input(irregular({length, 2}, 1));
      const Expr W = graph.input(irregular({width * 2, 3}, 2));
      const Expr before = graph.constant({(width - 1) / 2, 2}, 0);
      const Expr after = graph.constant({width / 2, 2}, 0);
      const Outcome apart = outcome(conv1d(concat({before, x, after}), W), {x, W});
      const Outcome same = outcome(conv1d(x, W, Padding::kSame), {x, W});
      EXPECT_EQ(same.value.shape(), Shape({length, 3}));
      expect_near(same, apart);
    }
}

}  // namespace
}  // namespace espalier
