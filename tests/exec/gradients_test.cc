/// Sparse and dense gradients: joining, adding, scaling, norms.
#include "espalier/exec/gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "tests/exec/floats.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using testing::floats;

void add_row(Gradients& gradients, const Parameter& parameter, std::int32_t row, const std::vector<float>& values) {
  gradients.add_row(parameter, row, values.data());
}

/// What an executor does with the whole gradient of a parameter.
void add_dense(Gradients& gradients, const Parameter& parameter, const std::vector<float>& values) {
  const Gradients::Dense to = gradients.dense(parameter);
  auto* elements = reinterpret_cast<float*>(to.data);
  for (std::size_t i = 0; i < values.size(); ++i) elements[i] = to.store ? values[i] : elements[i] + values[i];
}

TEST(Gradients, OfNothingAreZero) {
  const Parameter parameter("p", Tensor(Shape{2}));
  const Gradients gradients;
  EXPECT_TRUE(gradients.empty());
  EXPECT_EQ(gradients.find(parameter), nullptr);
  EXPECT_TRUE(gradients.all().empty());
  EXPECT_EQ(gradients.norm(), 0);
}

TEST(Gradients, JoinRowsInAscendingOrderAndAddThoseGivenTwice) {
  const Parameter table("table", Tensor(Shape{9, 2}));
  Gradients gradients;
  add_row(gradients, table, 7, {1, 2});
  add_row(gradients, table, 0, {3, 4});
  add_row(gradients, table, 7, {10, 20});
  add_row(gradients, table, 3, {5, 6});
  gradients.join_rows();
  const Gradient* gradient = gradients.find(table);
  ASSERT_NE(gradient, nullptr);
  EXPECT_TRUE(gradient->sparse);
  EXPECT_EQ(gradient->parameter, &table);
  EXPECT_EQ(gradient->row_width(), 2);
  EXPECT_THAT(gradient->rows, ElementsAre(0, 3, 7));
  EXPECT_EQ(gradient->row_values.shape(), (Shape{3, 2}));
  EXPECT_THAT(floats(gradient->row_values), ElementsAre(3, 4, 5, 6, 11, 22));
  EXPECT_EQ(gradient->to_tensor().shape(), (Shape{9, 2}));
  EXPECT_EQ(gradient->to_tensor().at(15), 22);
}

TEST(Gradients, JoinNewRowsIntoThoseThere) {
  const Parameter table("table", Tensor(Shape{9, 1}));
  Gradients gradients;
  add_row(gradients, table, 4, {1});
  add_row(gradients, table, 8, {2});
  gradients.join_rows();
  add_row(gradients, table, 0, {3});
  add_row(gradients, table, 4, {10});
  gradients.join_rows();
  gradients.join_rows();  // nothing is new
  EXPECT_THAT(gradients.find(table)->rows, ElementsAre(0, 4, 8));
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(3, 11, 2));
}

TEST(Gradients, ManyRowsAtOnceAreJoinedWhetherOrNotThereAreOthers) {
  const Parameter table("table", Tensor(Shape{9, 1}));
  const std::vector<float> values{1, 2, 3};
  const std::vector<std::int32_t> rows{4, 8, 4};
  std::vector<const std::byte*> where;
  for (const float& value : values) where.push_back(reinterpret_cast<const std::byte*>(&value));
  Gradients gradients;
  gradients.add_rows(table, rows, where);
  EXPECT_THAT(gradients.find(table)->rows, ElementsAre(4, 8));  // at once
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(4, 2));
  gradients.add_rows(table, rows, where);
  gradients.join_rows();
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(8, 4));
  gradients.clear();
  add_row(gradients, table, 8, {10});
  gradients.add_rows(table, rows, where);
  gradients.join_rows();
  EXPECT_THAT(gradients.find(table)->rows, ElementsAre(4, 8));
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(4, 12));
}

TEST(Gradients, AddRowsInTheOrderTheyCame) {
  // In floats the sum depends on the order: 1e8 + 1 is 1e8.
  const Parameter table("table", Tensor(Shape{2, 1}));
  Gradients gradients;
  for (const float value : {1e8F, 1.0F, -1e8F}) add_row(gradients, table, 1, {value});
  gradients.join_rows();
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(0));
}

TEST(Gradients, RowsOfHigherRankHaveTheShapeOfTheRest) {
  const Parameter table("table", Tensor(Shape{5, 2, 3}));
  Gradients gradients;
  add_row(gradients, table, 2, {1, 2, 3, 4, 5, 6});
  gradients.join_rows();
  EXPECT_EQ(gradients.find(table)->row_width(), 6);
  EXPECT_EQ(gradients.find(table)->row_values.shape(), (Shape{1, 2, 3}));
}

TEST(Gradients, TellTheFirstWriterOfAWholeGradientToStore) {
  const Parameter weight("W", Tensor(Shape{2}));
  Gradients gradients;
  EXPECT_TRUE(gradients.dense(weight).store);
  EXPECT_FALSE(gradients.dense(weight).store);
  gradients.clear();
  EXPECT_TRUE(gradients.dense(weight).store);
}

TEST(Gradients, OfRowsBecomeWholeWhenTheWholeIsUsed) {
  const Parameter table("table", Tensor(Shape{3, 1}));
  Gradients gradients;
  add_row(gradients, table, 1, {5});
  gradients.join_rows();
  add_dense(gradients, table, {1, 1, 1});
  ASSERT_FALSE(gradients.find(table)->sparse);
  EXPECT_THAT(floats(gradients.find(table)->dense), ElementsAre(1, 6, 1));
  EXPECT_TRUE(gradients.find(table)->rows.empty());
}

TEST(Gradients, OfRowsAddToAWholeOne) {
  const Parameter table("table", Tensor(Shape{3, 1}));
  Gradients gradients;
  add_dense(gradients, table, {1, 2, 3});
  add_row(gradients, table, 2, {10});
  add_row(gradients, table, 2, {20});
  gradients.join_rows();
  ASSERT_FALSE(gradients.find(table)->sparse);
  EXPECT_THAT(floats(gradients.find(table)->values()), ElementsAre(1, 2, 33));
}

TEST(Gradients, AddThoseOfAnotherInEveryMixture) {
  const Parameter both_dense("a", Tensor(Shape{2, 1}));
  const Parameter both_sparse("b", Tensor(Shape{2, 1}));
  const Parameter dense_first("c", Tensor(Shape{2, 1}));
  const Parameter sparse_first("d", Tensor(Shape{2, 1}));
  const Parameter only_dense("e", Tensor(Shape{2, 1}));
  const Parameter only_sparse("f", Tensor(Shape{2, 1}));
  Gradients mine;
  Gradients other;
  add_dense(mine, both_dense, {1, 2});
  add_dense(other, both_dense, {10, 20});
  add_row(mine, both_sparse, 1, {1});
  add_row(other, both_sparse, 1, {2});
  add_row(other, both_sparse, 0, {3});
  add_dense(mine, dense_first, {1, 1});
  add_row(other, dense_first, 0, {5});
  add_row(mine, sparse_first, 0, {5});
  add_dense(other, sparse_first, {1, 1});
  add_dense(other, only_dense, {7, 8});
  add_row(other, only_sparse, 1, {9});
  mine.join_rows();
  other.join_rows();
  mine.add(other);
  EXPECT_THAT(floats(mine.find(both_dense)->to_tensor()), ElementsAre(11, 22));
  EXPECT_TRUE(mine.find(both_sparse)->sparse);
  EXPECT_THAT(floats(mine.find(both_sparse)->to_tensor()), ElementsAre(3, 3));
  EXPECT_THAT(floats(mine.find(dense_first)->to_tensor()), ElementsAre(6, 1));
  EXPECT_THAT(floats(mine.find(sparse_first)->to_tensor()), ElementsAre(6, 1));
  EXPECT_THAT(floats(mine.find(only_dense)->to_tensor()), ElementsAre(7, 8));
  EXPECT_TRUE(mine.find(only_sparse)->sparse);
  EXPECT_THAT(floats(mine.find(only_sparse)->to_tensor()), ElementsAre(0, 9));
  EXPECT_THAT(floats(other.find(both_dense)->to_tensor()), ElementsAre(10, 20));
}

TEST(Gradients, ScaleAndNormGoOverRowsAndWholes) {
  const Parameter weight("W", Tensor(Shape{2}));
  const Parameter table("table", Tensor(Shape{1000, 1}));
  Gradients gradients;
  add_dense(gradients, weight, {1, 2});
  add_row(gradients, table, 998, {2});
  gradients.join_rows();
  EXPECT_DOUBLE_EQ(gradients.norm(), 3);
  gradients.scale(-0.5);
  EXPECT_DOUBLE_EQ(gradients.norm(), 1.5);
  EXPECT_THAT(floats(gradients.find(weight)->dense), ElementsAre(-0.5F, -1));
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(-1));
}

TEST(Gradients, NormOfLargeFloatsDoesNotOverflow) {
  const Parameter weight("W", Tensor(Shape{2}));
  Gradients gradients;
  add_dense(gradients, weight, {3e30F, 4e30F});
  EXPECT_NEAR(gradients.norm() / 5e30, 1, 1e-6);
}

TEST(Gradients, AreListedInTheOrderTheirParametersWereMade) {
  const Parameter first("z", Tensor(Shape{1}));
  const Parameter second("a", Tensor(Shape{1}));
  Gradients gradients;
  add_dense(gradients, second, {1});
  add_dense(gradients, first, {1});
  const std::vector<const Gradient*> all = gradients.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->parameter, &first);
  EXPECT_EQ(all[1]->parameter, &second);
}

TEST(Gradients, ClearForgetsWholesRowsAndRowsNotYetJoined) {
  const Parameter weight("W", Tensor(Shape{1}));
  const Parameter table("table", Tensor(Shape{2, 1}));
  Gradients gradients;
  add_dense(gradients, weight, {1});
  add_row(gradients, table, 1, {1});
  gradients.join_rows();
  add_row(gradients, table, 0, {1});
  gradients.clear();
  gradients.join_rows();
  EXPECT_TRUE(gradients.empty());
  add_row(gradients, table, 1, {2});
  gradients.join_rows();
  EXPECT_THAT(gradients.find(table)->rows, ElementsAre(1));
  EXPECT_THAT(floats(gradients.find(table)->row_values), ElementsAre(2));
}

TEST(Gradients, FollowAParameterToFloat64) {
  Parameter table("table", Tensor(Shape{2, 1}));
  Gradients gradients;
  add_row(gradients, table, 1, {1});
  gradients.join_rows();
  gradients.clear();
  table.replace_value(table.value().to(DType::kFloat64));
  const std::array<double, 1> values{0.1};
  gradients.add_row(table, 0, values.data());
  gradients.join_rows();
  EXPECT_EQ(gradients.find(table)->row_values.dtype(), DType::kFloat64);
  EXPECT_EQ(gradients.find(table)->row_values.at(0), 0.1);
  EXPECT_EQ(gradients.norm(), 0.1);
}

}  // namespace
}  // namespace espalier
