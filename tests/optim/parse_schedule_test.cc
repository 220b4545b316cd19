/// Schedules from text.
#include <gtest/gtest.h>

#include <string>

#include "espalier/base/error.h"
#include "espalier/optim/schedule.h"
#include "tests/support/refusal.h"

namespace espalier::optim {
namespace {

std::string refusal(const std::string& text) {
  return espalier::testing::refusal_of<UsageError>([&] { parse_schedule(text, 100); });
}

TEST(ParseSchedule, GivesTheScheduleThatTheTextNames) {
  for (const std::int64_t step : {0, 7, 50, 99, 250}) {
    EXPECT_EQ(parse_schedule("constant", 100)(step), constant_rate()(step));
    EXPECT_EQ(parse_schedule("cosine", 100)(step), cosine_decay(100)(step));
    EXPECT_EQ(parse_schedule("cosine(floor=0.1)", 100)(step), cosine_decay(100, 0.1)(step));
    EXPECT_EQ(parse_schedule("step(every=10, factor=0.5)", 100)(step), step_decay(10, 0.5)(step));
    EXPECT_EQ(parse_schedule("exponential(factor=0.5, every=10)", 100)(step), exponential_decay(10, 0.5)(step));
    EXPECT_EQ(parse_schedule("inverse_time(rate=0.25)", 100)(step), inverse_time_decay(0.25)(step));
  }
}

TEST(ParseSchedule, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal("cosin"), "schedule \"cosin\": there is no schedule \"cosin\"; did you mean \"cosine\"?");
  EXPECT_EQ(refusal("cosine(flor=1)"),
            "schedule \"cosine(flor=1)\": cosine has no option \"flor\"; did you mean \"floor\"?");
  EXPECT_EQ(refusal("step(every=10)"), "schedule \"step(every=10)\": the option \"factor\" is missing");
  EXPECT_EQ(refusal("step(every=1.5, factor=1)"),
            "schedule \"step(every=1.5, factor=1)\": the option \"every\" must be a whole number from 1, not 1.5");
  EXPECT_EQ(refusal("cosine(floor=low)"),
            "schedule \"cosine(floor=low)\": the option \"floor\" must be a number, not \"low\"");
}

}  // namespace
}  // namespace espalier::optim
