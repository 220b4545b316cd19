#include "espalier/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::refusal_of;

TEST(TensorCoordinates, AreOnePerAxisInRowMajorOrder) {
  Tensor t({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(t(0, 0, 0), 0);
  EXPECT_EQ(t(0, 2, 1), 5);
  EXPECT_EQ(t.at({1, 0, 1}), 7);
  EXPECT_EQ(t(1, 2, 1), 11);
  t.set({1, 0, 1}, -3);
  EXPECT_EQ(t.at(7), -3);
  EXPECT_EQ(Tensor({}, {4})(), 4);
  EXPECT_EQ(Tensor::from({2}, std::vector<std::int32_t>{5, 6})(1), 6);
}

TEST(TensorCoordinates, OutsideTheShapeAreRefused) {
  const Tensor t({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(refusal_of([&] { t(1); }), "tensor: 1 coordinates given for shape [2, 3], which has 2 axes");
  EXPECT_EQ(refusal_of([&] { t(1, 3); }), "tensor: coordinate 3 is outside axis 1 of shape [2, 3]");
  EXPECT_EQ(refusal_of([&] { t.at({-1, 0}); }), "tensor: coordinate -1 is outside axis 0 of shape [2, 3]");
}

TEST(TensorArgmax, IsTheFirstOfTheLargest) {
  const Tensor t({2, 3}, {1, 5, 5, 7, -2, 7});
  EXPECT_EQ(t.argmax(), 3);
  EXPECT_EQ(t.argmax(1), Tensor::from({2}, std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(t.argmax(-1), t.argmax(1));
  EXPECT_EQ(t.argmax(0), Tensor::from({3}, std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(t.to(DType::kFloat64).argmax(0), t.argmax(0));
  EXPECT_EQ(Tensor({}, {4}).argmax(), 0);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Tensor({4}, {1, kNaN, 5, kNaN}).argmax(), 1);
}

TEST(TensorArgmax, RefusesWhatHasNoElements) {
  EXPECT_EQ(refusal_of([] { Tensor(Shape{2, 0}).argmax(); }), "tensor: argmax of shape [2, 0], which has no elements");
  EXPECT_EQ(refusal_of([] {
              Tensor(Shape{2, 0}).argmax(1);
            }),
            "tensor: argmax over axis 1 of shape [2, 0], which has no elements");
  EXPECT_EQ(refusal_of([] { Tensor(Shape{2}).argmax(1); }),
            "tensor: argmax over axis 1 of shape [2], which has 1 axes");
}

}  // namespace
}  // namespace espalier
