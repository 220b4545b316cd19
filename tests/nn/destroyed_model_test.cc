/// What refers to a Model that was destroyed is refused by the name of a parameter; freed numbers are never read.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/fc.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::here;
using testing::refusal_of;

constexpr const char* kOutlivedHint =
    "\n  hint: a Model must outlive the layers, cells and block programs that use its parameters";
constexpr const char* kDestroyedHint =
    " was destroyed with its Model after this graph recorded it\n"
    "  hint: a Model must outlive its graphs; ask for values and gradients before it goes out of scope";

/// Both engines.
class DestroyedModel : public ::testing::TestWithParam<Execution> {
 protected:
  std::optional<Model> model{std::in_place};
  Graph graph{GraphOptions{.execution = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(Engines, DestroyedModel, ::testing::Values(Execution::kKernels, Execution::kPlain));

TEST_P(DestroyedModel, RefusesTheRunOfAGraph) {
  const nn::Linear layer(*model / "layer", 3, 2);
  const Expr y = tanh(layer(graph.input({3}, {1, 2, 3})));
  model.reset();
  const std::string sentence = "run: parameter \"layer.W\"" + std::string(kDestroyedHint);
  EXPECT_EQ(refusal_of<UsageError>([&] { y.value(); }), sentence);
  EXPECT_EQ(refusal_of<UsageError>([&] { graph.finish({y}); }), sentence);
  Gradients gradients;
  EXPECT_EQ(refusal_of<UsageError>([&] { sum(y, 0).backward({.into = &gradients, .wanted = {}}); }), sentence);
  EXPECT_TRUE(gradients.empty());
}

TEST_P(DestroyedModel, RefusesBackwardAfterForwardAndKeepsValues) {
  const nn::Embedding words(*model / "words", 5, 3);
  const Expr x = words(graph, 2);
  const Expr loss = sum(tanh(x), 0);
  const double before = loss.scalar();
  const Tensor row = x.value();
  model.reset();
  EXPECT_EQ(loss.scalar(), before);
  EXPECT_EQ(x.value(), row);
  EXPECT_EQ(refusal_of<UsageError>([&] { loss.backward(); }),
            "run: parameter \"words.table\"" + std::string(kDestroyedHint));
  EXPECT_EQ(refusal_of<UsageError>([&] { (loss + loss).value(); }),
            "run: parameter \"words.table\"" + std::string(kDestroyedHint));
}

TEST_P(DestroyedModel, RefusesTheValueOfAViewOfAParameter) {
  const Parameter& w = model->add("w", {4}, init::uniform(-1, 1));
  const Expr view = reshape(graph.parameter(w), {2, 2});
  view.value();
  model.reset();
  // The reference engine copies views: it may give the value it has.
  if (GetParam() == Execution::kKernels) {
    EXPECT_EQ(refusal_of<UsageError>([&] { view.value(); }), "run: parameter \"w\"" + std::string(kDestroyedHint));
  }
  EXPECT_EQ(refusal_of<UsageError>([&] { graph.parameter(w).value(); }),
            "graph: parameter \"w\" was destroyed with its Model" + std::string(kOutlivedHint));
}

TEST_P(DestroyedModel, RefusesLayersThatOutliveIt) {
  const nn::Linear layer(*model / "layer", 3, 2);
  const nn::Embedding words(*model / "words", 5, 3);
  const nn::LstmCell lstm(*model / "lstm", 3, 4);
  const nn::FC normalised(*model / "fc", 3, 2, {.weight_norm = true});
  for (const bool used_before : {true, false}) {
    const Expr x = graph.input({3}, {1, 2, 3});
    if (used_before) {
      layer(x), words(graph, 2), normalised(x);
      lstm(x, lstm.initial(graph));
      model.reset();
      graph.clear();  // what is known of parameters outlives it
      continue;
    }
    const std::int32_t size = graph.size();
    int line = 0;
    const std::string of_layer = refusal_of<UsageError>([&] { line = __LINE__, layer(x); });
    EXPECT_EQ(of_layer,
              "affine: parameter \"layer.W\" was destroyed with its Model\n  at " + here(line) + kOutlivedHint);
    EXPECT_EQ(graph.size(), size);
    const std::string said = refusal_of<UsageError>([&] { line = __LINE__, words(graph, 2); });
    EXPECT_EQ(said,
              "lookup: parameter \"words.table\" was destroyed with its Model\n  at " + here(line) + kOutlivedHint);
    EXPECT_NE(refusal_of<UsageError>([&] { lstm(x, lstm.initial(graph)); }).find("was destroyed with its Model"),
              std::string::npos);
    EXPECT_NE(refusal_of<UsageError>([&] { normalised(x); }).find("was destroyed with its Model"), std::string::npos);
  }
}

TEST_P(DestroyedModel, RefusesCellsThatOutliveIt) {
  const Parameter& w = model->add("w", {3, 3}, init::uniform(-1, 1));
  const auto used = cell("used", [&](Expr x) { return tanh(linear(x, w)); });
  const auto unused = cell("unused", [&](Expr x) { return tanh(linear(x, w)); });
  const Expr x = graph.input({3}, {1, 2, 3});
  used(x);
  model.reset();
  // Like the use before, whose parameter the graph has: recording or running refuses it.
  EXPECT_NE(refusal_of<UsageError>([&] { used(x).value(); }).find("parameter \"w\" was destroyed with its Model"),
            std::string::npos);
  graph.clear();
  const Expr again = graph.input({3}, {1, 2, 3});
  for (const auto* each : {&used, &unused})
    EXPECT_NE(refusal_of<UsageError>([&] { (*each)(again); }).find("parameter \"w\" was destroyed with its Model"),
              std::string::npos);
  EXPECT_EQ(graph.size(), 1);
}

TEST_P(DestroyedModel, RefusesRecursionsThatOutliveIt) {
  const Parameter& w = model->add("w", {3, 3}, init::uniform(-1, 1));
  const Recursion sequence("sequence", {{"step", 1, [&](auto in) { return tanh(in[0] + linear(in[1], w)); }}},
                           {Shape{3}});
  const std::array<float, 6> numbers{1, 2, 3, 4, 5, 6};
  for (const bool alive : {true, false}) {
    const Expr x = graph.rows({3}, numbers);
    if (alive) {
      sequence(x, Structure::sequence(2))[0].value();
      model.reset();
      graph.clear();
      continue;
    }
    EXPECT_NE(refusal_of<UsageError>([&] {
                sequence(x, Structure::sequence(2));
              }).find("parameter \"w\" was destroyed with its Model"),
              std::string::npos);
  }
}

TEST_P(DestroyedModel, IsNotTakenForAnUpdatedOne) {
  const Parameter& w = model->add("w", {3}, init::uniform(-1, 1));
  const Expr y = tanh(graph.input({3}, {1, 2, 3}) * w);
  model.reset();
  graph.use_current_parameters();
  EXPECT_EQ(refusal_of<UsageError>([&] { y.value(); }), "run: parameter \"w\"" + std::string(kDestroyedHint));
}

TEST(DestroyedModelTest, LeavesGradientsOfAnotherOwnerReadable) {
  Gradients gradients;
  {
    Model model;
    const nn::Embedding words(model / "words", 5, 3);
    const Parameter& w = model.add("w", {3}, init::uniform(-1, 1));
    Graph graph;
    sum(words(graph, 2) * w, 0).backward({.into = &gradients, .wanted = {}});
  }
  ASSERT_EQ(gradients.all().size(), 2U);
  for (const Gradient* each : gradients.all()) {
    EXPECT_TRUE(each->parameter->is_destroyed());
    EXPECT_EQ(each->to_tensor().shape(), each->parameter->shape());
  }
  EXPECT_GT(gradients.norm(), 0);
}

TEST(DestroyedModelTest, LeavesNoNumbersInItsParameters) {
  auto model = std::make_unique<Model>();
  const Parameter& w = model->add("w", {3}, init::uniform(-1, 1));
  model.reset();
  EXPECT_EQ(w.shape(), Shape({3}));
  EXPECT_EQ(refusal_of<UsageError>([&] { w.value().as<float>(); }),
            "tensor: the elements of this float32[3] were moved away or freed");
}

}  // namespace
}  // namespace espalier
