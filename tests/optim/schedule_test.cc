/// The factors of the learning rate.
#include "espalier/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "espalier/base/error.h"

namespace espalier::optim {
namespace {

TEST(Schedule, ConstantIsTheSameAlways) {
  EXPECT_EQ(constant_rate()(0), 1);
  EXPECT_EQ(constant_rate(0.25)(1000), 0.25);
}

TEST(Schedule, StepDecayFallsInSteps) {
  const Schedule schedule = step_decay(10, 0.5);
  EXPECT_EQ(schedule(0), 1);
  EXPECT_EQ(schedule(9), 1);
  EXPECT_EQ(schedule(10), 0.5);
  EXPECT_EQ(schedule(39), 0.125);
}

TEST(Schedule, ExponentialDecayFallsByTheFactorOverItsSteps) {
  const Schedule schedule = exponential_decay(10, 0.25);
  EXPECT_EQ(schedule(0), 1);
  EXPECT_DOUBLE_EQ(schedule(5), 0.5);
  EXPECT_DOUBLE_EQ(schedule(10), 0.25);
}

TEST(Schedule, FactorsAboveOneStayFinite) {
  EXPECT_DOUBLE_EQ(step_decay(10, 2.5)(20), 6.25);
  EXPECT_TRUE(std::isfinite(step_decay(1000, 2.5)(1'000'000)));
  EXPECT_TRUE(std::isfinite(exponential_decay(1, 10)(1'000'000)));
}

TEST(Schedule, InverseTimeDecayIsOneOverOnePlusRateTimesStep) {
  EXPECT_EQ(inverse_time_decay(0.5)(0), 1);
  EXPECT_EQ(inverse_time_decay(0.5)(2), 0.5);
  EXPECT_EQ(inverse_time_decay(0)(2), 1);
}

TEST(Schedule, CosineDecayGoesFromOneToItsFloorAndStays) {
  const Schedule schedule = cosine_decay(100, 0.1);
  EXPECT_EQ(schedule(0), 1);
  EXPECT_DOUBLE_EQ(schedule(50), 0.55);
  EXPECT_NEAR(schedule(25), 0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2, 1e-15);
  EXPECT_EQ(schedule(100), 0.1);
  EXPECT_EQ(schedule(1000), 0.1);
}

TEST(Schedule, WarmupRisesEvenlyToWhatFollows) {
  const Schedule schedule = linear_warmup(3, step_decay(2, 0.5));
  EXPECT_EQ(schedule(0), 0.25);
  EXPECT_EQ(schedule(1), 0.5);
  EXPECT_EQ(schedule(2), 0.75);
  EXPECT_EQ(schedule(3), 1);
  EXPECT_EQ(schedule(4), 1);
  EXPECT_EQ(schedule(5), 0.5);
}

TEST(Schedule, RefusesLengthsBelowOneAndNegativeFactors) {
  EXPECT_THROW(step_decay(0, 0.5), UsageError);
  EXPECT_THROW(step_decay(1, -0.5), UsageError);
  EXPECT_THROW(exponential_decay(-1, 0.5), UsageError);
  EXPECT_THROW(inverse_time_decay(std::nan("")), UsageError);
  EXPECT_THROW(cosine_decay(0), UsageError);
  EXPECT_THROW(linear_warmup(0, constant_rate()), UsageError);
  EXPECT_THROW(linear_warmup(1, {}), UsageError);
  try {
    constant_rate(-1);
    FAIL() << "nothing was refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "constant_rate: the factor must be 0 or more and finite, not -1");
  }
}

}  // namespace
}  // namespace espalier::optim
