/// What all optimizers share: clipping, frozen parameters, rates, state.
#include "espalier/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/adamw.h"
#include "espalier/optim/rmsprop.h"
#include "espalier/optim/sgd.h"
#include "tests/support/refusal.h"

namespace espalier::optim {
namespace {

using espalier::testing::refusal_of;

void give(Gradients& gradients, const Parameter& parameter, const std::vector<float>& values) {
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(gradients.dense(parameter).data));
}

TEST(ClipByNorm, ScalesOnlyWhatIsTooLongAndReturnsTheNormBefore) {
  const Parameter a("a", Tensor(Shape{1}));
  const Parameter table("t", Tensor(Shape{9, 1}));
  Gradients gradients;
  give(gradients, a, {3});
  const float four = 4;
  gradients.add_row(table, 5, &four);
  gradients.join_rows();
  EXPECT_DOUBLE_EQ(clip_by_norm(gradients, 6), 5);
  EXPECT_EQ(gradients.find(a)->dense.at(0), 3);
  EXPECT_DOUBLE_EQ(clip_by_norm(gradients, 2.5), 5);
  EXPECT_EQ(gradients.find(a)->dense.at(0), 1.5);
  EXPECT_EQ(gradients.find(table)->row_values.at(0), 2);
  EXPECT_DOUBLE_EQ(clip_by_norm(gradients, 2.5), 2.5);
}

TEST(ClipByNorm, OfNoGradientsIsZero) {
  Gradients gradients;
  EXPECT_EQ(clip_by_norm(gradients, 1), 0);
}

TEST(ClipByNorm, NamesTheParameterWhoseGradientIsNotFinite) {
  const Parameter a("a", Tensor(Shape{1}));
  const Parameter b("cell.b", Tensor(Shape{2}));
  Gradients gradients;
  give(gradients, a, {3});
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    give(gradients, b, {1, wrong});
    EXPECT_EQ(refusal_of([&] { clip_by_norm(gradients, 1); }),
              "clip_by_norm: the gradient of parameter \"cell.b\" is not finite");
    EXPECT_EQ(gradients.find(a)->dense.at(0), 3);
  }
  EXPECT_EQ(refusal_of([&] { clip_by_norm(gradients, 0); }), "clip_by_norm: the norm must be above 0, not 0");
}

TEST(Optimizer, ClipsByTheNormOfAllParameters) {
  Model model;
  Parameter& a = model.add("a", {1}, init::zeros());
  Parameter& b = model.add("b", {1}, init::zeros());
  Sgd sgd(model, {.learning_rate = 1, .clip_norm = 1});
  give(model.gradients(), a, {3});
  give(model.gradients(), b, {4});
  sgd.step();
  EXPECT_FLOAT_EQ(static_cast<float>(a.value().at(0)), -0.6F);
  EXPECT_FLOAT_EQ(static_cast<float>(b.value().at(0)), -0.8F);
  EXPECT_DOUBLE_EQ(sgd.last_norm(), 5);
}

TEST(Optimizer, ChangesNothingWhenClippingRefuses) {
  Model model;
  Parameter& a = model.add("a", {1}, init::constant(1));
  Parameter& b = model.add("b", {1}, init::constant(1));
  Adam adam(model, {.clip_norm = 1});
  give(model.gradients(), a, {3});
  give(model.gradients(), b, {std::nanf("")});
  EXPECT_EQ(refusal_of([&] { adam.step(); }), "clip_by_norm: the gradient of parameter \"b\" is not finite");
  EXPECT_EQ(a.value().at(0), 1);
  EXPECT_EQ(adam.steps(), 0);
  EXPECT_EQ(model.gradients().find(a)->dense.at(0), 3);
  model.gradients().clear();
  give(model.gradients(), a, {3});
  adam.step();
  EXPECT_LT(a.value().at(0), 1);
}

TEST(Optimizer, SkipsFrozenParametersAndThoseWithoutGradient) {
  Model model;
  Parameter& frozen = model.add("frozen", {1}, init::constant(1));
  Parameter& unused = model.add("unused", {1}, init::constant(1));
  Parameter& used = model.add("used", {1}, init::constant(1));
  model.freeze("frozen");
  Sgd sgd(model, {.learning_rate = 0.5, .momentum = 0.9, .weight_decay = 0.1});
  give(model.gradients(), frozen, {1});
  give(model.gradients(), used, {1});
  sgd.step();
  EXPECT_EQ(frozen.value().at(0), 1);
  EXPECT_EQ(frozen.version(), 0U);
  EXPECT_EQ(unused.value().at(0), 1);
  EXPECT_EQ(unused.version(), 0U);
  EXPECT_FLOAT_EQ(static_cast<float>(used.value().at(0)), 1 - 0.5F * 1.1F);
  EXPECT_EQ(used.version(), 1U);
  EXPECT_TRUE(model.gradients().empty());
}

TEST(Optimizer, ScalesTheRateOfEachParameter) {
  Model model;
  Parameter& slow = model.add("slow", {1}, init::zeros());
  Parameter& still = model.add("still", {1}, init::zeros());
  Parameter& usual = model.add("usual", {1}, init::zeros());
  model.set_learning_rate_scale("slow", 0.25);
  model.set_learning_rate_scale("still", 0);
  Sgd sgd(model, {.learning_rate = 2});
  for (const Parameter* parameter : model.parameters()) give(model.gradients(), *parameter, {1});
  sgd.step();
  EXPECT_EQ(slow.value().at(0), -0.5);
  EXPECT_EQ(still.value().at(0), 0);
  EXPECT_EQ(usual.value().at(0), -2);
}

TEST(Optimizer, ScalesTheGradientOfEachParameterBeforeClippingAndTheRule) {
  const auto values_after = [](const auto& make) {
    Model model;
    model.add("a", {1}, init::zeros());
    model.add("b", {1}, init::zeros());
    model.set_gradient_scale("a", 0.25);
    auto optimizer = make(model);
    give(model.gradients(), model.parameter("a"), {16});
    give(model.gradients(), model.parameter("b"), {3});
    optimizer.step();
    return std::vector<double>{model.parameter("a").value().at(0), model.parameter("b").value().at(0)};
  };
  using ::testing::ElementsAre;
  const auto plain = [](Model& model) { return Sgd(model, {.learning_rate = 0.5}); };
  EXPECT_THAT(values_after(plain), ElementsAre(-2, -1.5));
  // The gradients are 4 and 3, of norm 5.
  const auto clipped = [](Model& model) { return Sgd(model, {.learning_rate = 1, .clip_norm = 1}); };
  const std::vector<double> after_clipping = values_after(clipped);
  EXPECT_NEAR(after_clipping[0], -0.8, 1e-6);
  EXPECT_NEAR(after_clipping[1], -0.6, 1e-6);
  const auto decayed = [](Model& model) { return Sgd(model, {.learning_rate = 1, .momentum = 0.5}); };
  EXPECT_THAT(values_after(decayed), ElementsAre(-4, -3));
  Model model;
  model.add("a", {1}, init::zeros());
  EXPECT_EQ(refusal_of([&] { model.set_gradient_scale("a", -1); }),
            "model: the scale of a gradient must be 0 or more and finite, not -1");
}

TEST(Optimizer, MultipliesTheRateByItsSchedule) {
  Model model;
  Parameter& x = model.add("x", {1}, init::zeros());
  Sgd sgd(model, {.learning_rate = 1});
  sgd.set_schedule(step_decay(2, 0.5));
  std::vector<double> values;
  for (int step = 0; step < 4; ++step) {
    give(model.gradients(), x, {-1});
    sgd.step();
    values.push_back(x.value().at(0));
  }
  EXPECT_THAT(values, ::testing::ElementsAre(1, 2, 2.5, 3));
  EXPECT_EQ(sgd.learning_rate(), 1);
  sgd.set_learning_rate(4);
  give(model.gradients(), x, {-1});
  sgd.step();
  EXPECT_EQ(x.value().at(0), 4);
}

TEST(Optimizer, UsesGradientsOfTheCallersOwn) {
  Model model;
  Parameter& x = model.add("x", {1}, init::zeros());
  const Parameter stranger("x", Tensor(Shape{1}));
  Gradients own;
  give(own, x, {1});
  give(own, stranger, {1});
  give(model.gradients(), x, {100});
  Sgd sgd(model, {.learning_rate = 1});
  sgd.step(own);
  EXPECT_EQ(x.value().at(0), -1);
  EXPECT_TRUE(own.empty());
  EXPECT_FALSE(model.gradients().empty());
  EXPECT_EQ(stranger.value().at(0), 0);
}

/// A weight, rows of a table, a frozen parameter, and one that only the second part has a gradient of.
template <class Make>
NamedTensors after_steps_by_parts(const Make& make, bool as_a_sum) {
  Model model;
  Parameter& weight = model.add("weight", {3}, init::zeros());
  Parameter& table = model.add("table", {4, 2}, init::zeros());
  Parameter& frozen = model.add("frozen", {1}, init::zeros());
  Parameter& late = model.add("late", {1}, init::zeros());
  frozen.frozen = true;
  late.learning_rate_scale = 2;
  auto optimizer = make(model);
  for (int step = 1; step <= 2; ++step) {
    Gradients first;
    Gradients second;
    const auto row = [](float value) { return std::vector<float>{value, -value}; };
    give(first, weight, {1, 2, 3});
    give(second, weight, {0.5, -2, 4.0F * static_cast<float>(step)});
    first.add_row(table, 3, row(1).data());
    first.add_row(table, 1, row(2).data());
    second.add_row(table, 3, row(4).data());
    for (Gradients* part : {&first, &second}) {
      part->join_rows();
      give(*part, frozen, {1});
    }
    give(second, late, {8});
    if (as_a_sum) {
      first.add(second);
      optimizer.step(first);
    } else {
      optimizer.step(std::vector<Gradients*>{&first, &second});
      EXPECT_TRUE(second.empty());
    }
    EXPECT_TRUE(first.empty());
  }
  EXPECT_EQ(optimizer.steps(), 2);
  NamedTensors all = optimizer.state();
  for (const Parameter* parameter : model.parameters()) all.emplace(parameter->name(), parameter->value());
  return all;
}

TEST(Optimizer, MakesAStepByTheSumOfParts) {
  const auto expect_same = [](const auto& make) {
    EXPECT_EQ(after_steps_by_parts(make, false), after_steps_by_parts(make, true));
  };
  expect_same([](Model& model) { return Sgd(model, {.learning_rate = 0.5}); });  // exact in binary
  expect_same([](Model& model) { return Sgd(model, {.learning_rate = 0.5, .momentum = 0.5}); });
  expect_same([](Model& model) { return Sgd(model, {.learning_rate = 0.5, .weight_decay = 0.25}); });
  expect_same([](Model& model) { return Sgd(model, {.learning_rate = 0.5, .clip_norm = 1}); });
  expect_same([](Model& model) { return Adam(model); });
  Model model;
  Sgd sgd(model, {});
  EXPECT_EQ(refusal_of([&] { sgd.step(std::vector<Gradients*>()); }), "optimizer: a step by no gradients");
}

TEST(Optimizer, GoesOnAfterTheModelWasConvertedAndGrew) {
  Model model;
  Parameter& x = model.add("x", {1}, init::zeros());
  Sgd sgd(model, {.learning_rate = 1, .momentum = 0.5});
  give(model.gradients(), x, {1});
  sgd.step();
  model.to(DType::kFloat64);
  Parameter& y = model.add("y", {1}, init::zeros());
  for (const Parameter* parameter : {&x, &y}) *reinterpret_cast<double*>(model.gradients().dense(*parameter).data) = 1;
  sgd.step();
  EXPECT_EQ(x.value().at(0), -2.5);
  EXPECT_EQ(y.value().at(0), -1);
}

TEST(Optimizer, GivesTheSameBitsWithAnyNumberOfThreads) {
  const auto run = [](int threads) {
    const int before = thread_count();
    set_thread_count(threads);
    Model model;
    Parameter& x = model.add("x", {300, 1001}, init::normal(0, 1));
    Adam adam(model);
    for (int step = 0; step < 2; ++step) {
      const Tensor gradient = x.value();
      give(model.gradients(), x, {gradient.as<float>().begin(), gradient.as<float>().end()});
      adam.step();
    }
    set_thread_count(before);
    return x.value();
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(Optimizer, RefusesOptionsOutsideTheirRanges) {
  Model model;
  EXPECT_EQ(refusal_of([&] { Sgd(model, {.learning_rate = -1}); }),
            "optimizer: the learning rate must be 0 or more and finite, not -1");
  EXPECT_EQ(refusal_of([&] { Sgd(model, {.momentum = 1.5}); }), "sgd: momentum must be from 0 to 1, not 1.5");
  EXPECT_EQ(refusal_of([&] { Sgd(model, {.nesterov = true}); }), "sgd: nesterov needs a momentum above 0");
  EXPECT_EQ(refusal_of([&] { Sgd(model, {.clip_norm = -2}); }), "sgd: clip_norm must be 0 or more, not -2");
  EXPECT_EQ(refusal_of([&] { AdamW(model, {.weight_decay = -2}); }),
            "adamw: weight_decay must be 0 or more and finite, not -2");
  EXPECT_THROW(Adam(model, {.beta1 = 1}), UsageError);
  EXPECT_THROW(RmsProp(model, {.decay = std::nan("")}), UsageError);
  Sgd sgd(model);
  EXPECT_THROW(sgd.set_learning_rate(std::nan("")), UsageError);
  EXPECT_EQ(sgd.learning_rate(), SgdOptions{}.learning_rate);
}

TEST(OptimizerState, HasNamesThatTellWhatItIs) {
  Model model;
  Parameter& x = model.add("cell.W", {2}, init::zeros());
  model.add("unused", {2}, init::zeros());
  Adam adam(model, {.learning_rate = 0.5});
  give(model.gradients(), x, {1, 2});
  adam.step();
  const NamedTensors state = adam.state();
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("adam.learning_rate", "adam.m/cell.W", "adam.steps", "adam.steps/cell.W",
                                            "adam.v/cell.W"));
  EXPECT_EQ(state.at("adam.learning_rate").item(), 0.5);
  EXPECT_EQ(state.at("adam.steps").item(), 1);
  EXPECT_EQ(state.at("adam.m/cell.W").shape(), (Shape{2}));
}

TEST(OptimizerState, ThatDoesNotFitIsRefusedAndNothingChanges) {
  Model model;
  Parameter& x = model.add("x", {2}, init::zeros());
  Adam adam(model, {.learning_rate = 0.5});
  give(model.gradients(), x, {1, 2});
  adam.step();
  const NamedTensors state = adam.state();
  Adam other(model, {.learning_rate = 0.25});
  const auto refusal_with = [&](const std::string& key, const Tensor* tensor) {
    NamedTensors changed = state;
    changed.erase(key);
    if (tensor != nullptr) changed.emplace(key, *tensor);
    const std::string text = refusal_of([&] { other.set_state(changed); });
    EXPECT_EQ(other.learning_rate(), 0.25);
    EXPECT_EQ(other.steps(), 0);
    return text;
  };
  const Tensor three(Shape{3});
  const Tensor half = Tensor::filled({}, 0.5);
  EXPECT_EQ(refusal_with("adam.steps", nullptr), "adam: the state lacks \"adam.steps\"");
  EXPECT_EQ(refusal_with("adam.v/x", nullptr), "adam: the state lacks \"adam.v/x\"");
  EXPECT_EQ(refusal_with("adam.v/x", &three), "adam: \"adam.v/x\" of the state has shape [3] where [2] is needed");
  EXPECT_EQ(refusal_with("adam.steps/x", nullptr), "adam: \"adam.m/x\" of the state belongs to nothing here");
  EXPECT_EQ(refusal_with("adam.steps/x", &half),
            "adam: \"adam.steps/x\" of the state must be a whole number from 0, not 0.5");
  EXPECT_EQ(refusal_with("adam.m/y", &three), "adam: \"adam.m/y\" of the state belongs to nothing here");
  Sgd sgd(model);
  EXPECT_EQ(refusal_of([&] { sgd.set_state(state); }), "sgd: the state lacks \"sgd.learning_rate\"");
}

}  // namespace
}  // namespace espalier::optim
