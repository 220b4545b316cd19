/// The distributions of initial values.
#include "espalier/nn/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>

#include "espalier/base/error.h"
#include "espalier/nn/safetensors.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using espalier::testing::refusal_of;

Tensor made(const init::Initializer& initializer, const Shape& shape, std::uint64_t seed = 1) {
  Tensor value(shape);
  Random random(seed);
  initializer(value, random);
  return value;
}

double mean_of(const Tensor& tensor) {
  double sum = 0;
  for (const float element : tensor.as<float>()) sum += static_cast<double>(element);
  return sum / static_cast<double>(tensor.elements());
}

double deviation_of(const Tensor& tensor) {
  const double mean = mean_of(tensor);
  double sum = 0;
  for (const float element : tensor.as<float>())
    sum += (static_cast<double>(element) - mean) * (static_cast<double>(element) - mean);
  return std::sqrt(sum / static_cast<double>(tensor.elements()));
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (const float element : tensor.as<float>()) largest = std::max(largest, std::abs(static_cast<double>(element)));
  return largest;
}

bool all_finite(const Tensor& tensor) {
  const std::span<const float> elements = tensor.as<float>();
  return std::all_of(elements.begin(), elements.end(), [](float element) { return std::isfinite(element); });
}

TEST(Init, ConstantAndZerosFillEverything) {
  EXPECT_EQ(made(init::constant(1.5), {2, 2}), Tensor(Shape{2, 2}, {1.5F, 1.5F, 1.5F, 1.5F}));
  EXPECT_EQ(made(init::zeros(), {2}), Tensor(Shape{2}));
}

TEST(Init, UniformStaysBetweenItsEndsAndIsEven) {
  const Tensor value = made(init::uniform(-1, 3), {100, 100});
  EXPECT_NEAR(mean_of(value), 1, 0.05);
  EXPECT_NEAR(deviation_of(value), 4 / std::sqrt(12.0), 0.05);
  for (const float element : value.as<float>()) {
    ASSERT_GE(element, -1);
    ASSERT_LE(element, 3);
  }
}

TEST(Init, NormalHasItsMeanAndDeviation) {
  const Tensor value = made(init::normal(2, 0.5), {100, 100});
  EXPECT_NEAR(mean_of(value), 2, 0.03);
  EXPECT_NEAR(deviation_of(value), 0.5, 0.03);
}

TEST(Init, GlorotIsUniformWithinItsLimit) {
  const Tensor value = made(init::glorot(2), {50, 100});
  const double limit = 2 * std::sqrt(6.0 / 150);
  EXPECT_LE(largest_of(value), limit);
  EXPECT_GT(largest_of(value), 0.99 * limit);
  EXPECT_NEAR(deviation_of(value), limit / std::sqrt(3.0), 0.02 * limit);
}

TEST(Init, HeHasTheDeviationOfItsFanIn) {
  EXPECT_NEAR(deviation_of(made(init::he(), {200, 50})), std::sqrt(2.0 / 200), 0.002);
  // A convolution's fan-in is all but the last axis.
  EXPECT_NEAR(deviation_of(made(init::he(), {3, 64, 50})), std::sqrt(2.0 / 192), 0.002);
}

TEST(Init, UnitScalingHasTheVarianceOfItsFanIn) {
  const Tensor value = made(init::unit_scaling(1.5), {200, 100});
  EXPECT_NEAR(deviation_of(value), 1.5 / std::sqrt(200.0), 0.002);
  EXPECT_LE(largest_of(value), 1.5 * std::sqrt(3.0 / 200));
}

TEST(Init, TruncatedNormalStaysWithinTwoDeviations) {
  const Tensor value = made(init::truncated_normal(1, 0.5), {100, 200});
  for (const float element : value.as<float>()) ASSERT_NEAR(element, 1, 1);
  EXPECT_NEAR(mean_of(value), 1, 0.02);
  EXPECT_NEAR(deviation_of(value), 0.5 * 0.8796, 0.01);
  EXPECT_EQ(refusal_of([] { init::truncated_normal(0, -1); }),
            "init::truncated_normal: the deviation must be 0 or more, not -1");
}

TEST(Init, GlorotAndHeTakeEveryRankAndEmptyShapes) {
  for (const Shape& shape : {Shape{}, Shape{4}, Shape{2, 3, 4, 5}, Shape{0, 3}, Shape{3, 0}}) {
    EXPECT_TRUE(all_finite(made(init::glorot(), shape))) << shape.to_string();
    EXPECT_TRUE(all_finite(made(init::he(), shape))) << shape.to_string();
  }
}

class Orthogonal : public ::testing::TestWithParam<Shape> {};

TEST_P(Orthogonal, FewerOfRowsAndColumnsAreOrthonormalTimesTheGain) {
  const Shape& shape = GetParam();
  const Tensor value = made(init::orthogonal(3), shape);
  const std::int64_t rows = shape[0];
  const std::int64_t columns = shape[1];
  const bool by_rows = rows <= columns;
  const std::int64_t count = std::min(rows, columns);
  const std::int64_t length = std::max(rows, columns);
  const auto element = [&](std::int64_t vector, std::int64_t i) {
    return value.at(by_rows ? vector * columns + i : i * columns + vector);
  };
  for (std::int64_t a = 0; a < count; ++a)
    for (std::int64_t b = 0; b <= a; ++b) {
      double dot = 0;
      for (std::int64_t i = 0; i < length; ++i) dot += element(a, i) * element(b, i);
      ASSERT_NEAR(dot, a == b ? 9 : 0, 2e-6) << a << " " << b;
    }
}

INSTANTIATE_TEST_SUITE_P(Init, Orthogonal,
                         ::testing::Values(Shape{1, 1}, Shape{7, 7}, Shape{5, 40}, Shape{40, 5}, Shape{1, 9},
                                           Shape{64, 64}),
                         [](const auto& test) {
                           return std::to_string(test.param[0]) + "by" + std::to_string(test.param[1]);
                         });

TEST(Init, OrthogonalOfNoElementsIsNothing) { EXPECT_EQ(made(init::orthogonal(), {0, 4}).elements(), 0); }

TEST(Init, SameSeedGivesSameBitsAndAnotherOthers) {
  for (const auto& initializer : {init::uniform(0, 1), init::normal(0, 1), init::orthogonal(), init::he()}) {
    EXPECT_EQ(made(initializer, {6, 4}), made(initializer, {6, 4}));
    EXPECT_FALSE(made(initializer, {6, 4}) == made(initializer, {6, 4}, 2));
  }
}

TEST(Init, FromTensorKeepsTheNumbers) {
  const Tensor value(Shape{2}, {1, 2});
  EXPECT_EQ(made(init::from_tensor(value), {2}), value);
}

TEST(Init, FromFileReadsOneTensor) {
  const std::string path = ::testing::TempDir() + "espalier_init_from_file.safetensors";
  write_safetensors(path,
                    NamedTensors{{"a", Tensor(Shape{2}, {1, 2})}, {"b", Tensor::filled({3}, 0.5, DType::kFloat64)}});
  EXPECT_EQ(made(init::from_file(path, "a"), {2}), Tensor(Shape{2}, {1, 2}));
  EXPECT_EQ(made(init::from_file(path, "b"), {3}), Tensor::filled({3}, 0.5));
  EXPECT_EQ(refusal_of([&] { made(init::from_file(path, "a"), {3}); }),
            path + ": tensor \"a\" has shape [2] where [3] is needed");
  EXPECT_EQ(refusal_of([&] { made(init::from_file(path, "c"), {3}); }),
            path + ": no tensor \"c\" among the 2 of the file");
  std::filesystem::remove(path);
}

TEST(Init, RefusesWhatCannotBeDrawn) {
  EXPECT_EQ(refusal_of([] { init::uniform(2, 1); }), "init::uniform: low (2) is above high (1)");
  EXPECT_EQ(refusal_of([] { init::normal(0, -1); }), "init::normal: the deviation must be 0 or more, not -1");
  EXPECT_EQ(refusal_of([] { init::he(std::nan("")); }), "init::he: the gain must be finite, not nan");
  EXPECT_EQ(refusal_of([] { made(init::orthogonal(), {3}); }),
            "init::orthogonal: the parameter must have 2 axes, and [3] has 1");
  EXPECT_EQ(refusal_of([] { made(init::from_tensor(Tensor(Shape{2})), {3}); }),
            "init::from_tensor: the parameter has shape [3], and the tensor [2]");
}

}  // namespace
}  // namespace espalier
