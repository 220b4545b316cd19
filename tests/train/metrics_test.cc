/// Metrics against values worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/train/accuracy.h"
#include "espalier/train/correlation.h"
#include "espalier/train/number_errors.h"
#include "espalier/train/q_error.h"
#include "espalier/train/roc_auc.h"
#include "espalier/train/span_f1.h"
#include "tests/support/refusal.h"

namespace espalier::train {
namespace {

using testing::refusal_of;
using Values = std::vector<double>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Accuracy, IsTheShareOfRightAnswers) {
  EXPECT_EQ(accuracy(Values{1, 2, 3, 4}, Values{1, 2, 0, 0}), 0.5);
  EXPECT_EQ(accuracy(Values{1, kUnknown, 3}, Values{1, 2, 0}), 0.5);
  EXPECT_EQ(accuracy(Values{}, Values{}), 0);
  EXPECT_EQ(accuracy(Values{kUnknown}, Values{1}), 0);
  EXPECT_EQ(refusal_of<UsageError>([] {
              accuracy(Values{1, 2}, Values{1});
            }),
            "accuracy: there are 2 right answers and 1 predicted ones");
}

TEST(NumberErrors, AreThoseWorkedOutByHand) {
  const Values expected{1, 2, 3, kUnknown};
  const Values predicted{2, 2, 1, 100};  // differences 1, 0, -2
  EXPECT_DOUBLE_EQ(mean_squared_error(expected, predicted), 5.0 / 3);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(expected, predicted), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(mean_absolute_error(expected, predicted), 1);
  EXPECT_TRUE(std::isnan(mean_squared_error(Values{}, Values{})));
  EXPECT_TRUE(std::isnan(mean_absolute_error(Values{kUnknown}, Values{1})));
}

TEST(Correlation, OfPearsonIsThatWorkedOutByHand) {
  EXPECT_DOUBLE_EQ(pearson(Values{1, 2, 3}, Values{10, 20, 30}), 1);
  EXPECT_DOUBLE_EQ(pearson(Values{1, 2, 3}, Values{3, 2, 1}), -1);
  // Differences from the means: -1.5 -0.5 0.5 1.5 and -1 1 -1 1: products sum to 2, squares to 5 and 4.
  EXPECT_DOUBLE_EQ(pearson(Values{1, 2, 3, 4}, Values{0, 2, 0, 2}), 2 / std::sqrt(20.0));
  EXPECT_DOUBLE_EQ(pearson(Values{1, 2, kUnknown, 3, 4}, Values{0, 2, 77, 0, 2}), 2 / std::sqrt(20.0));
  EXPECT_DOUBLE_EQ(pearson(Values{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}, Values{0, 2, 0, 2}), 2 / std::sqrt(20.0));
  EXPECT_TRUE(std::isnan(pearson(Values{1, 1}, Values{1, 2})));
  EXPECT_TRUE(std::isnan(pearson(Values{1}, Values{1})));
}

TEST(Correlation, OfSpearmanSharesTheRanksOfEqualNumbers) {
  EXPECT_DOUBLE_EQ(spearman(Values{1, 2, 3}, Values{1, 10, 1000}), 1);
  EXPECT_DOUBLE_EQ(spearman(Values{1, 2, 3, 4}, Values{1, 8, 3, 12}), 0.8);  // 1 - 6 * 2 / (4 * 15)
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: products of differences sum to 4.5, squares to 4.5 and 5.
  EXPECT_DOUBLE_EQ(spearman(Values{5, 7, 7, 9}, Values{1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5));
}

TEST(QError, IsTheFactorByWhichANumberWasMissed) {
  EXPECT_THAT(q_errors(Values{10, 10, 10, kUnknown, 3}, Values{20, 5, 10, 1, 0}),
              ::testing::ElementsAre(2, 2, 1, kInfinite));
  EXPECT_EQ(refusal_of<UsageError>([] { q_errors(Values{0}, Values{1}); }),
            "q_errors: a right number above 0 is expected, and it is 0");
}

TEST(QError, HasQuantilesBetweenItsValues) {
  const Values values{4, 1, 3, 2};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 1), 4);
  EXPECT_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 3.85);  // place 2.85
  EXPECT_EQ(quantile(Values{1, 2, kInfinite}, 0.5), 2);
  EXPECT_TRUE(std::isnan(quantile(Values{}, 0.5)));
  EXPECT_THROW(quantile(values, 1.5), UsageError);
}

TEST(QError, OfPredictionsHasAGeometricMeanAndQuantiles) {
  const std::vector<Prediction> predictions{{.expected = {4}, .predicted = {2}, .scores = {}},
                                            {.expected = {1, 1}, .predicted = {1, 8}, .scores = {}}};
  const std::vector<Metric> metrics = q_error_metrics(predictions);  // factors 2, 1 and 8
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].name, "q_error_mean");
  EXPECT_NEAR(metrics[0].value, std::cbrt(16), 1e-12);
  EXPECT_EQ(metrics[1].name, "q_error_median");
  EXPECT_EQ(metrics[1].value, 2);
  EXPECT_EQ(metrics[2].name, "q_error_p95");
  EXPECT_NEAR(metrics[2].value, 2 + 0.9 * 6, 1e-12);
  for (const Metric& metric : metrics) EXPECT_FALSE(metric.higher_is_better);
}

TEST(RocAuc, CountsPairsThatAreInOrder) {
  // Positives 0.9, 0.4; negatives 0.5, 0.1: 3 of 4 pairs are in order.
  EXPECT_DOUBLE_EQ(roc_auc(Values{1, 0, 1, 0}, Values{0.9, 0.5, 0.4, 0.1}), 0.75);
  EXPECT_DOUBLE_EQ(roc_auc(Values{1, 0, 1, 0}, Values{1, 0, 1, 0}), 1);
  EXPECT_DOUBLE_EQ(roc_auc(Values{0, 1}, Values{1, 0}), 0);
  EXPECT_DOUBLE_EQ(roc_auc(Values{1, 0, 0, 1}, Values{3, 3, 3, 3}), 0.5);
  // Positives 2, 1; negatives 1, 0: pairs in order 1 + 1 + 0.5 + 1.
  EXPECT_DOUBLE_EQ(roc_auc(Values{1, 1, 0, 0}, Values{2, 1, 1, 0}), 0.875);
  EXPECT_DOUBLE_EQ(roc_auc(Values{1, kUnknown, 0}, Values{2, 5, 1}), 1);
  EXPECT_TRUE(std::isnan(roc_auc(Values{1, 1}, Values{2, 1})));
  EXPECT_EQ(refusal_of<UsageError>([] { roc_auc(Values{2}, Values{1}); }),
            "roc_auc: a label of 0 or 1 is expected, and it is 2");
}

TEST(SpanF1, CountsSpansOfEqualTypeBeginAndEnd) {
  SpanF1 f1;
  const std::vector<Span> expected{{"PER", 0, 2}, {"LOC", 3, 4}, {"PER", 5, 6}};
  const std::vector<Span> predicted{{"PER", 5, 6}, {"LOC", 3, 5}, {"PER", 0, 2}, {"ORG", 7, 8}};
  f1.add(expected, predicted);
  f1.add(std::vector<Span>{{"LOC", 0, 1}}, std::vector<Span>{{"LOC", 0, 1}});
  EXPECT_EQ(f1.all().right, 3);
  EXPECT_EQ(f1.all().expected, 4);
  EXPECT_EQ(f1.all().predicted, 5);
  EXPECT_DOUBLE_EQ(f1.all().precision(), 0.6);
  EXPECT_DOUBLE_EQ(f1.all().recall(), 0.75);
  EXPECT_DOUBLE_EQ(f1.all().f1(), 6.0 / 9);
  EXPECT_DOUBLE_EQ(f1.by_type().at("PER").f1(), 1);
  EXPECT_DOUBLE_EQ(f1.by_type().at("LOC").f1(), 0.5);
  EXPECT_EQ(f1.by_type().at("ORG").f1(), 0);
}

TEST(SpanF1, CountsASpanThatIsPredictedTwiceAsWrongOnce) {
  SpanF1 f1;
  f1.add(std::vector<Span>{{"PER", 0, 1}}, std::vector<Span>{{"PER", 0, 1}, {"PER", 0, 1}});
  EXPECT_EQ(f1.all().right, 1);
  EXPECT_EQ(f1.all().predicted, 2);
  EXPECT_EQ(SpanF1().all().f1(), 0);
}

}  // namespace
}  // namespace espalier::train
