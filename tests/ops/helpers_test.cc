/// Functions made from several ops: sums and means over all elements, softmax along any axis, split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/gradient_check.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"

namespace espalier::ops::helpers {
namespace {

using espalier::testing::refusal_of;
using ::testing::HasSubstr;
using testing::here;

TEST(SumOfElements, IsNotTheSumOfAList) {
  Graph g;
  const Expr x = g.input(Tensor({2, 2}, {1, 2, 3, 4}));
  const Expr y = g.input(Tensor({2, 2}, {10, 20, 30, 40}));
  EXPECT_EQ(sum(x).value(), Tensor({}, {10}));
  EXPECT_EQ(mean(x).value(), Tensor({}, {2.5F}));
  EXPECT_EQ(sum({x}).value(), Tensor({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(sum({x, y}).value(), Tensor({2, 2}, {11, 22, 33, 44}));
  EXPECT_EQ(mean(std::vector<Expr>{x, y}).value(), Tensor({2, 2}, {5.5F, 11, 16.5F, 22}));
  EXPECT_EQ(sum(x, 0).value(), Tensor({2}, {4, 6}));
  EXPECT_EQ(mean(x, 1).value(), Tensor({2}, {1.5F, 3.5F}));
  const Expr rows = g.rows({2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(sum(rows).value(), Tensor({3}, {3, 7, 11}));
  EXPECT_EQ(sum({rows}).value(), Tensor({2}, {9, 12}));
}

TEST(SumOfElements, TakesParametersAndNamesTheCallersLine) {
  Model model;
  const Parameter& W = model.add("W", {2, 3}, init::constant(2));
  Graph g;
  EXPECT_EQ(sum(g.parameter(W)).scalar(), 12);
  EXPECT_EQ(mean(g.parameter(W)).scalar(), 2);
  Expr stale;
  const int line = __LINE__ + 1;
  EXPECT_THAT(refusal_of([&] { sum(stale); }), HasSubstr("at " + here(line)));
  EXPECT_THAT(refusal_of([&] { mean(stale); }), HasSubstr("at " + here(line + 1)));
}

TEST(SumOfElements, OfMoreElementsThanAnAxisCanHaveIsRefusedWithTheNumbers) {
  Graph g;
  const Expr one = g.input(Tensor({}, {1}));
  const Expr huge = broadcast(one, {65'536, 65'536});  // recorded, never computed
  const std::int32_t before = g.size();
  const int line = __LINE__ + 2;
  const std::string refusal = ": x [65536, 65536] has 4294967296 elements, and 2147483647 are the most it can take";
  EXPECT_EQ(refusal_of<ResourceError>([&] { sum(huge); }), "sum" + refusal + "\n  at " + here(line));
  EXPECT_THAT(refusal_of<ResourceError>([&] { mean(huge); }), HasSubstr("mean" + refusal));
  EXPECT_THAT(refusal_of<ResourceError>([&] { flatten(huge); }), HasSubstr("flatten" + refusal));
  EXPECT_EQ(g.size(), before);
  // As many as an axis can have are taken.
  EXPECT_EQ(sum(broadcast(one, {1, 2'147'483'647})).shape(), Shape{});
}

TEST(SoftmaxAlongAnAxis, IsThatOfTheTransposed) {
  Graph g;
  const Expr x = g.input(Tensor({2, 3}, {0, 1, 2, 5, -1, 2}));
  for (const std::int32_t axis : {0, -2}) {
    EXPECT_EQ(softmax(x, axis).value(), transpose(softmax(transpose(x))).value());
    EXPECT_EQ(log_softmax(x, axis).value(), transpose(log_softmax(transpose(x))).value());
  }
  EXPECT_EQ(softmax(x, 1).value(), softmax(x).value());
  EXPECT_EQ(log_softmax(x, -1).value(), log_softmax(x).value());
  EXPECT_THAT(refusal_of([&] { softmax(x, 2); }), HasSubstr("softmax: axis 2 is outside x [2, 3] (rank 2)"));
  EXPECT_THAT(refusal_of([&] { log_softmax(x, -3); }), HasSubstr("log_softmax: axis -3 is outside x [2, 3] (rank 2)"));
}

TEST(SoftmaxAlongAnAxis, HasTheGradientOfEachLine) {
  Model model;
  model.add("x", {2, 3, 4}, init::uniform(-1, 1));
  espalier::testing::randomise(model);
  for (const std::int32_t axis : {0, 1, 2})
    espalier::testing::check_gradients(model, [&](Graph& g) {
      const Expr x = g.parameter(model.parameter("x"));
      return espalier::testing::asymmetric_sum(flatten(softmax(x, axis))) +
             espalier::testing::asymmetric_sum(flatten(log_softmax(x, axis)));
    });
}

TEST(Split, GivesTheParts) {
  Graph g;
  const Expr x = g.input(Tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const std::vector<Expr> halves = split(x, 2, 1);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0].value(), Tensor({2, 2}, {1, 2, 5, 6}));
  EXPECT_EQ(halves[1].value(), Tensor({2, 2}, {3, 4, 7, 8}));
  const std::vector<Expr> parts = split(x, {1, 0, 3}, -1);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].value(), Tensor({2, 1}, {1, 5}));
  EXPECT_EQ(parts[1].shape(), Shape({2, 0}));
  EXPECT_EQ(parts[2].value(), Tensor({2, 3}, {2, 3, 4, 6, 7, 8}));
  EXPECT_EQ(split(x, 2)[1].value(), Tensor({1, 4}, {5, 6, 7, 8}));
  EXPECT_THAT(refusal_of([&] { split(x, 3, 1); }),
              HasSubstr("split: axis 1 of x [2, 4] cannot be divided into 3 equal parts"));
  EXPECT_THAT(refusal_of([&] { split(x, 0); }), HasSubstr("cannot be divided into 0 equal parts"));
  EXPECT_THAT(refusal_of([&] {
                split(x, {1, 2}, 1);
              }),
              HasSubstr("split: axis 1 of x [2, 4] cannot be divided into parts of 3 elements together"));
  EXPECT_THAT(refusal_of([&] { split(x, 2, 2); }), HasSubstr("split: axis 2 of x [2, 4] cannot be divided"));
}

}  // namespace
}  // namespace espalier::ops::helpers
