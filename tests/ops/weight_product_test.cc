/// Products of rows with weights: the same bits wherever the rows lie, and with weights laid out anew after a change.
#include "espalier/ops/weight_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/base/threads.h"
#include "espalier/kernels/prepared.h"
#include "espalier/ops/product_log.h"
#include "tests/support/numbers.h"

namespace espalier::ops {
namespace {

using testing::kNaN;
using testing::size;

std::vector<float> random_numbers(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(size(count));
  for (float& number : numbers) number = static_cast<float>(random.uniform(-1, 1));
  return numbers;
}

/// How rows lie in memory.
enum class Lie {
  kDense,
  kSpaced,     // evenly, with gaps
  kScattered,  // at offsets in no order, among gaps of NaN
};
constexpr Lie kLies[] = {Lie::kDense, Lie::kSpaced, Lie::kScattered};

/// The same numbers, lying in one of these ways.
class Laid {
 public:
  Laid(const std::vector<float>& dense, std::int64_t count, std::int64_t width, Lie lie)
      : count_(count),
        width_(width),
        next_(lie == Lie::kDense ? width : width + 3),
        memory_(size(2 * count * next_), kNaN) {
    for (std::int64_t r = 0; r < count && lie == Lie::kScattered; ++r)
      offsets_.push_back((r * 17 % count) * 2 * next_ + r % 3);
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t i = 0; i < width; ++i) rows()[r][i] = dense[size(r * width + i)];
  }
  Rows rows() { return {memory_.data(), count_, width_, next_, offsets_.empty() ? nullptr : offsets_.data()}; }
  std::vector<float> dense() {
    std::vector<float> result;
    for (std::int64_t r = 0; r < count_; ++r) result.insert(result.end(), rows()[r], rows()[r] + width_);
    return result;
  }
  /// Whether nothing but its rows was written.
  bool is_clean() const {
    std::int64_t numbers = 0;
    for (float number : memory_) numbers += std::isnan(number) ? 0 : 1;
    return numbers == count_ * width_;
  }

 private:
  std::int64_t count_;
  std::int64_t width_;
  std::int64_t next_;
  std::vector<float> memory_;
  std::vector<std::int64_t> offsets_;
};

struct Sizes {
  std::int64_t rows;
  std::int64_t k;
  std::int64_t m;
};
/// With pieces of 64 gathered rows, and 256 of a gradient, full and not; weights that are laid out and that are not.
constexpr Sizes kSizes[] = {{1, 5, 3},     {2, 17, 9},    {63, 8, 40},    {130, 70, 66},
                            {300, 33, 20}, {200, 64, 64}, {70, 150, 170}, {5, 300, 301}};

double product_of(const std::vector<float>& a, std::int64_t first, std::int64_t step_a, const std::vector<float>& b,
                  std::int64_t second, std::int64_t step_b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    sum += double{a[size(first + i * step_a)]} * double{b[size(second + i * step_b)]};
  return sum;
}

class WeightProduct : public ::testing::TestWithParam<Sizes> {
 protected:
  const std::int64_t rows = GetParam().rows;
  const std::int64_t k = GetParam().k;
  const std::int64_t m = GetParam().m;
  const std::vector<float> x = random_numbers(rows * k, 1);
  const std::vector<float> y = random_numbers(rows * m, 2);
  const std::vector<float> bias = random_numbers(m, 3);
  const std::vector<float> weights = random_numbers(k * m, 4);
  Parameter parameter{"W", Tensor({static_cast<std::int32_t>(k), static_cast<std::int32_t>(m)})};

  void SetUp() override { std::copy(weights.begin(), weights.end(), parameter.mutable_value().as<float>().begin()); }
  Weights weights_of(const Parameter* of) const {
    return {weights.data(), k, m, of, {.rows_to_come = 1000, .training = false}};
  }
  std::vector<float> forward(const Parameter* of, bool accumulate, Lie from, Lie to, bool relu = false) const {
    Laid given(x, rows, k, from);
    Laid result(y, rows, m, to);
    multiply_by_weights(given.rows(), weights_of(of), bias.data(), result.rows(), accumulate, relu);
    EXPECT_TRUE(result.is_clean());
    return result.dense();
  }
  std::vector<float> backward(const Parameter* of, bool accumulate, Lie from, Lie to) const {
    Laid given(y, rows, m, from);
    Laid result(x, rows, k, to);
    multiply_by_transposed(given.rows(), weights_of(of), result.rows(), accumulate);
    EXPECT_TRUE(result.is_clean());
    return result.dense();
  }
};

/// But for more rows than are gathered at a time, by weights that are not laid out: then those that are left over at
/// the end may be multiplied in another way.
TEST_P(WeightProduct, HasTheSameBitsWhereverRowsLie) {
  for (const bool accumulate : {false, true})
    for (const Parameter* of : {static_cast<const Parameter*>(nullptr), static_cast<const Parameter*>(&parameter)})
      for (const Lie to : kLies) {
        if (rows > 64 && (of == nullptr || of->prepared(k, m, false, weights_of(of).use) == nullptr)) continue;
        // What is scattered is added when the product is done: that rounds differently.
        const bool is_apart = accumulate && to == Lie::kScattered;
        const std::vector<float> like_y = forward(of, accumulate, Lie::kDense, is_apart ? to : Lie::kDense);
        const std::vector<float> like_x = backward(of, accumulate, Lie::kDense, is_apart ? to : Lie::kDense);
        for (const Lie from : kLies) {
          const std::string way =
              std::string(of != nullptr ? "prepared" : "as it is") + (accumulate ? ", accumulated" : "") + ", from " +
              std::to_string(static_cast<int>(from)) + " to " + std::to_string(static_cast<int>(to));
          EXPECT_TRUE(forward(of, accumulate, from, to) == like_y) << "forward, " << way;
          EXPECT_TRUE(backward(of, accumulate, from, to) == like_x) << "backward, " << way;
        }
      }
}

TEST_P(WeightProduct, EqualsPlainLoops) {
  const double tolerance = 1e-5 * std::sqrt(static_cast<double>(std::max(k, m)));
  for (const bool accumulate : {false, true})
    for (const Lie lie : kLies) {
      const Parameter* of = lie == Lie::kSpaced ? nullptr : &parameter;
      const std::vector<float> given_y = forward(of, accumulate, lie, lie);
      const std::vector<float> given_x = backward(of, accumulate, lie, lie);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t j = 0; j < m; ++j) {
          const double before = bias[size(j)] + (accumulate ? y[size(r * m + j)] : 0.0F);
          ASSERT_NEAR(given_y[size(r * m + j)], before + product_of(x, r * k, 1, weights, j, m, k), tolerance);
        }
        for (std::int64_t i = 0; i < k; ++i) {
          const double before = accumulate ? x[size(r * k + i)] : 0.0F;
          ASSERT_NEAR(given_x[size(r * k + i)], before + product_of(y, r * m, 1, weights, i * m, 1, m), tolerance);
        }
      }
    }
}

TEST_P(WeightProduct, MakesWhatIsNegativeZeroWhereTold) {
  for (const bool accumulate : {false, true})
    for (const Parameter* of : {static_cast<const Parameter*>(nullptr), static_cast<const Parameter*>(&parameter)})
      for (const Lie to : kLies) {
        std::vector<float> expected = forward(of, accumulate, Lie::kDense, to);
        EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), [](float number) { return number < 0; }));
        for (float& number : expected) number = std::max(number, 0.0F);
        EXPECT_TRUE(forward(of, accumulate, Lie::kDense, to, /*relu=*/true) == expected);
      }
}

/// Of some rows of W, wherever they begin.
TEST_P(WeightProduct, ByTheTransposeOfSomeRowsEqualsPlainLoops) {
  const double tolerance = 1e-5 * std::sqrt(static_cast<double>(m));
  for (const bool accumulate : {false, true})
    for (const Parameter* of : {static_cast<const Parameter*>(nullptr), static_cast<const Parameter*>(&parameter)})
      for (const auto& [begin, count] : {std::pair{k / 3, k - k / 3}, std::pair{std::int64_t{0}, k - k / 4},
                                         std::pair{k / 4, std::max<std::int64_t>(1, k / 2)}}) {
        const std::vector<float> before = random_numbers(rows * count, 6);
        Laid given(y, rows, m, Lie::kDense);
        Laid result(before, rows, count, Lie::kSpaced);
        multiply_by_transposed(given.rows(), weights_of(of).rows(begin, count), result.rows(), accumulate);
        EXPECT_TRUE(result.is_clean());
        const std::vector<float> made = result.dense();
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t i = 0; i < count; ++i) {
            const double there = accumulate ? before[size(r * count + i)] : 0.0F;
            ASSERT_NEAR(made[size(r * count + i)], there + product_of(y, r * m, 1, weights, (begin + i) * m, 1, m),
                        tolerance)
                << "row " << r << ", column " << begin << " + " << i;
          }
      }
}

TEST_P(WeightProduct, GradientsOfWeightsEqualPlainLoopsToTheBitWhereverRowsLie) {
  const std::int64_t next = m + 2;
  const std::vector<float> before = random_numbers(k * next, 5);
  for (const bool accumulate : {false, true}) {
    std::vector<float> first;
    std::vector<float> first_sum;
    for (const Lie of_x : kLies)
      for (const Lie of_y : kLies) {
        Laid given_x(x, rows, k, of_x);
        Laid given_y(y, rows, m, of_y);
        std::vector<float> dW = before;
        std::vector<float> sum = bias;
        weight_gradient(given_x.rows(), given_y.rows(), dW.data(), next, accumulate, sum.data());
        if (first.empty()) first = dW;
        EXPECT_TRUE(dW == first);
        if (first_sum.empty()) first_sum = sum;
        EXPECT_TRUE(sum == first_sum);
      }
    const double tolerance = 1e-5 * std::sqrt(static_cast<double>(rows));
    for (std::int64_t j = 0; j < m; ++j) {
      double sum = bias[size(j)];
      for (std::int64_t r = 0; r < rows; ++r) sum += y[size(r * m + j)];
      ASSERT_NEAR(first_sum[size(j)], sum, tolerance);
    }
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < next; ++j) {
        const float old = before[size(i * next + j)];
        if (j >= m)
          ASSERT_EQ(first[size(i * next + j)], old) << "between rows";
        else
          ASSERT_NEAR(first[size(i * next + j)], product_of(x, i, k, y, j, m, rows) + (accumulate ? old : 0),
                      tolerance);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, WeightProduct, ::testing::ValuesIn(kSizes));

TEST(WeightProducts, AddUpWhereRowsHaveOneTarget) {
  const std::vector<float> y = random_numbers(3 * 4, 1);
  const std::vector<float> weights = random_numbers(5 * 4, 2);
  std::vector<float> once(std::size_t{3} * 5, 0.0F);
  const Weights W{weights.data(), 5, 4, nullptr, {}};
  multiply_by_transposed({y.data(), 3, 4, 4, nullptr}, W, {once.data(), 3, 5, 5, nullptr}, false);
  std::vector<float> twice(10, 0.0F);
  const std::vector<std::int64_t> targets{5, 0, 5};
  multiply_by_transposed({y.data(), 3, 4, 4, nullptr}, W, {twice.data(), 3, 5, 5, targets.data()}, true);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(twice[i], once[5 + i]);
    EXPECT_FLOAT_EQ(twice[5 + i], once[i] + once[10 + i]);
  }
}

// --- the log ---------------------------------------------------------------------------------------------------------

TEST(ProductLog, CountsProductsByTheirSizes) {
  const std::vector<float> numbers = random_numbers(100, 1);
  std::vector<float> result(100);
  const Weights W{numbers.data(), 5, 4, nullptr, {}};
  const ConstRows x{numbers.data(), 3, 5, 5, nullptr};
  const auto multiply = [&](std::int64_t rows) {
    multiply_by_weights({numbers.data(), rows, 5, 5, nullptr}, W, nullptr, {result.data(), rows, 4, 4, nullptr}, false);
  };
  multiply(3);  // before there is a log
  ProductLog log;
  multiply(3);
  multiply(3);
  multiply(2);
  multiply_by_transposed({numbers.data(), 3, 4, 4, nullptr}, W, {result.data(), 3, 5, 5, nullptr}, false);
  weight_gradient(x, {numbers.data(), 3, 4, 4, nullptr}, result.data(), 4, false);
  {
    ProductLog within;
    multiply(1);
    ASSERT_EQ(within.products().size(), 1U);
    EXPECT_EQ(within.products()[0].product.rows, 1);
  }
  std::vector<Product> products;
  std::vector<std::int64_t> calls;
  double seconds = 0;
  for (const ProductCalls& each : log.products()) {
    products.push_back(each.product);
    calls.push_back(each.calls);
    seconds += each.seconds;
  }
  EXPECT_EQ(products, (std::vector<Product>{{.kind = ProductKind::kForward, .rows = 3, .k = 5, .m = 4},
                                            {.kind = ProductKind::kForward, .rows = 2, .k = 5, .m = 4},
                                            {.kind = ProductKind::kInputGradient, .rows = 3, .k = 5, .m = 4},
                                            {.kind = ProductKind::kWeightGradient, .rows = 3, .k = 5, .m = 4},
                                            {.kind = ProductKind::kForward, .rows = 1, .k = 5, .m = 4}}));
  EXPECT_EQ(calls, (std::vector<std::int64_t>{2, 1, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(log.seconds(), seconds);
  EXPECT_EQ(log.calls_beside(BesideProducts::kGathering), 0);
}

TEST(ProductLog, TellsGatheringFromMultiplying) {
  constexpr std::int64_t kSide = 400;
  const std::vector<float> numbers = random_numbers(kSide * kSide, 1);
  std::vector<float> result(3 * kSide);
  const std::vector<std::int64_t> offsets{2 * kSide, 0, 5 * kSide};
  const auto multiply = [&](std::int64_t side) {
    const Weights W{numbers.data(), side, side, nullptr, {}};
    multiply_by_weights({numbers.data(), 3, side, side, offsets.data()}, W, nullptr,
                        {result.data(), 3, side, side, nullptr}, false);
  };
  ProductLog log;
  multiply(5);
  EXPECT_EQ(log.products().size(), 1U);
  EXPECT_EQ(log.calls_beside(BesideProducts::kGathering), 0) << "small weights take rows as they lie";
  multiply(kSide);
  EXPECT_EQ(log.products().size(), 2U);
  EXPECT_GT(log.calls_beside(BesideProducts::kGathering), 0);
}

// --- weights of parameters -------------------------------------------------------------------------------------------

class PreparedParameter : public ::testing::Test {
 protected:
  static constexpr std::int64_t kSide = 160;
  Parameter W{"W", Tensor({kSide, kSide})};

  /// The first number of a row of ones by the matrix, or by its transpose.
  static float first_product(const kernels::Prepared& matrix) {
    const std::vector<float> ones(kSide, 1.0F);
    std::vector<float> result(kSide);
    matrix.product(1, ones.data(), kSide, nullptr, result.data(), kSide, false);
    return result[0];
  }
};

TEST_F(PreparedParameter, IsLaidOutAnewWhenTheValueChanges) {
  const WeightUse use{.rows_to_come = 10'000, .training = false};
  W.mutable_value().set(0, 1);
  W.mutable_value().set(1, 5);
  const kernels::Prepared* matrix = W.prepared(kSide, kSide, false, use);
  const kernels::Prepared* transposed = W.prepared(kSide, kSide, true, use);
  ASSERT_NE(matrix, nullptr);
  ASSERT_NE(transposed, nullptr);
  EXPECT_EQ(first_product(*matrix), 1);
  EXPECT_EQ(first_product(*transposed), 6);
  EXPECT_EQ(W.prepared(kSide, kSide, false, use), matrix);
  W.mutable_value().set(0, 3);
  EXPECT_EQ(first_product(*W.prepared(kSide, kSide, false, use)), 3);
  EXPECT_EQ(first_product(*W.prepared(kSide, kSide, true, use)), 8);
  W.replace_value(Tensor::filled({kSide, kSide}, 2));
  EXPECT_EQ(first_product(*W.prepared(kSide, kSide, false, use)), 2 * kSide);
}

TEST_F(PreparedParameter, IsNotLaidOutForFewRowsOfTraining) {
  for (int round = 0; round < 1000; ++round)
    ASSERT_EQ(W.prepared(kSide, kSide, true, {.rows_to_come = 8, .training = true}), nullptr);
  EXPECT_NE(W.prepared(kSide, kSide, true, {.rows_to_come = 10'000, .training = true}), nullptr);
  EXPECT_EQ(W.prepared(kSide, kSide, true, {.rows_to_come = 8, .training = true}), nullptr)
      << "bits would depend on what ran before";
}

TEST_F(PreparedParameter, IsLaidOutInTheLongRunWhereNothingChanges) {
  const WeightUse use{.rows_to_come = 8, .training = false};
  EXPECT_EQ(W.prepared(kSide, kSide, false, use), nullptr);
  int rounds = 1;
  while (W.prepared(kSide, kSide, false, use) == nullptr && rounds < 10'000) ++rounds;
  EXPECT_LT(rounds, 10'000);
  EXPECT_NE(W.prepared(kSide, kSide, false, use), nullptr);
  W.mutable_value().set(0, 1);
  EXPECT_EQ(W.prepared(kSide, kSide, false, use), nullptr);
}

TEST_F(PreparedParameter, IsOnlyTransposedWhereItIsSmall) {
  const WeightUse use{.rows_to_come = 100'000, .training = true};
  Parameter small("small", Tensor({8, 4}));
  small.mutable_value().set(1, 5);
  EXPECT_EQ(small.prepared(8, 4, false, use), nullptr);
  EXPECT_EQ(small.prepared(8, 4, true, {.rows_to_come = 3, .training = true}), nullptr);
  const kernels::Prepared* transposed = small.prepared(8, 4, true, use);
  ASSERT_NE(transposed, nullptr);
  ASSERT_NE(transposed->plain(), nullptr);
  EXPECT_EQ(transposed->plain()[8], 5);
  const Parameter column("column", Tensor({8, 1}));
  EXPECT_EQ(column.prepared(8, 1, true, use), nullptr) << "it is its own transpose";
}

TEST_F(PreparedParameter, HasALayoutForEachOfItsRowsThatIsAskedFor) {
  const WeightUse use{.rows_to_come = 10'000, .training = true};
  constexpr std::int64_t kHalf = kSide / 2;
  W.mutable_value().set(kHalf * kSide, 5);  // the first number of the second half
  const kernels::Prepared* first = W.prepared_rows(0, kHalf, kSide, use);
  const kernels::Prepared* second = W.prepared_rows(kHalf, kHalf, kSide, use);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(second->k(), kSide);
  EXPECT_EQ(second->n(), kHalf);
  EXPECT_EQ(first_product(*first), 0);
  EXPECT_EQ(first_product(*second), 5);
  EXPECT_EQ(W.prepared_rows(kHalf, kHalf, kSide, use), second);
  W.mutable_value().set(kHalf * kSide, 7);
  EXPECT_EQ(first_product(*W.prepared_rows(kHalf, kHalf, kSide, use)), 7);
  EXPECT_EQ(W.prepared_rows(kHalf, kHalf, kSide, {.rows_to_come = 8, .training = true}), nullptr);
}

TEST_F(PreparedParameter, IsNotLaidOutWhereItIsNoMatrixOfThatSize) {
  const WeightUse use{.rows_to_come = 100'000, .training = true};
  EXPECT_EQ(W.prepared(kSide, 2 * kSide, false, use), nullptr);
  W.replace_value(Tensor({kSide, kSide}, DType::kFloat64));
  EXPECT_EQ(W.prepared(kSide, kSide, false, use), nullptr);
}

}  // namespace
}  // namespace espalier::ops
