#include "espalier/optim/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "espalier/nn/model.h"
#include "tests/support/refusal.h"

namespace espalier::optim {
namespace {

using espalier::testing::refusal_of;

std::string printed(const std::string& text) {
  Model model;
  return parse(model, text)->to_string();
}

TEST(ParseOptimizer, ReadsANameAndOptionsAndPrintsAllOfThem) {
  EXPECT_EQ(printed("sgd"), "sgd(learning_rate=0.01, momentum=0, nesterov=false, weight_decay=0, clip_norm=0)");
  EXPECT_EQ(printed("sgd ( nesterov = true , momentum=0.9, lr=1e-3 )"),
            "sgd(learning_rate=0.001, momentum=0.9, nesterov=true, weight_decay=0, clip_norm=0)");
  EXPECT_EQ(printed("adam(beta1=0.8)"),
            "adam(learning_rate=0.001, beta1=0.8, beta2=0.999, epsilon=1e-08, weight_decay=0, clip_norm=0)");
  EXPECT_EQ(printed("ftrl(l1=2)"), "ftrl(learning_rate=0.05, beta=1, l1=2, l2=0, clip_norm=0)");
}

TEST(ParseOptimizer, ReadsWhatEveryOptimizerPrints) {
  for (const char* const name : {"adadelta", "adagrad", "adam", "adamw", "ftrl", "rmsprop", "sgd"}) {
    const std::string text = printed(std::string(name) + "(lr=0.123456789012345, clip_norm=7)");
    EXPECT_EQ(text.find(std::string(name) + "(learning_rate=0.123456789012345, "), 0U) << text;
    EXPECT_EQ(printed(text), text);
  }
}

TEST(ParseOptimizer, PrintsTheLearningRateOfNow) {
  Model model;
  const std::unique_ptr<Optimizer> optimizer = parse(model, "adagrad()");
  optimizer->set_learning_rate(0.25);
  EXPECT_EQ(optimizer->to_string(), "adagrad(learning_rate=0.25, epsilon=1e-10, weight_decay=0, clip_norm=0)");
}

TEST(ParseOptimizer, RefusesTextThatItCannotRead) {
  const auto told = [](const std::string& text) { return refusal_of([&] { printed(text); }); };
  EXPECT_EQ(told("adma(lr=1)"), "optimizer \"adma(lr=1)\": there is no optimizer \"adma\"; did you mean \"adam\"?");
  EXPECT_EQ(told(""),
            "optimizer \"\": there is no optimizer \"\"; there are \"adadelta\", \"adagrad\", \"adam\", \"adamw\", "
            "\"ftrl\", \"rmsprop\" and \"sgd\"");
  EXPECT_EQ(told("adam(beta3=1)"),
            "optimizer \"adam(beta3=1)\": adam has no option \"beta3\"; did you mean \"beta1\"?");
  EXPECT_EQ(told("adam(lr=fast)"),
            "optimizer \"adam(lr=fast)\": the option \"learning_rate\" must be a number, not \"fast\"");
  EXPECT_EQ(told("adam(lr=)"), "optimizer \"adam(lr=)\": the option \"learning_rate\" must be a number, not \"\"");
  EXPECT_EQ(told("sgd(nesterov=1)"),
            "optimizer \"sgd(nesterov=1)\": the option \"nesterov\" must be true or false, not \"1\"");
  EXPECT_EQ(told("adam(0.1)"), "optimizer \"adam(0.1)\": \"0.1\" is not of the form option=value");
  EXPECT_EQ(told("adam(lr=1"), "optimizer \"adam(lr=1\": a ')' is missing at its end");
  EXPECT_EQ(told("adam(lr=1,)"), "optimizer \"adam(lr=1,)\": an option is missing after the last ','");
  EXPECT_EQ(told("adam(lr=1, learning_rate=2)"),
            "optimizer \"adam(lr=1, learning_rate=2)\": the option \"learning_rate\" is given twice");
  EXPECT_EQ(told("adam(beta1=2)").find("adam: beta1 must be from 0 to "), 0U);
  EXPECT_EQ(told("ftrl(lr=0)"), "ftrl: the learning rate must be above 0, and it is 0");
}

}  // namespace
}  // namespace espalier::optim
