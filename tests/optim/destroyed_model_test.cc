/// An optimizer that outlives its Model refuses to go on.
#include <gtest/gtest.h>

#include <optional>

#include "espalier/nn/model.h"
#include "espalier/optim/adam.h"
#include "tests/support/refusal.h"

namespace espalier::optim {
namespace {

TEST(OptimizerOfADestroyedModel, IsRefused) {
  std::optional<Model> model(std::in_place);
  model->add("w", {3}, init::uniform(-1, 1));
  Adam adam(*model);
  Graph graph;
  const Expr loss = graph.constant(1);
  model.reset();
  const char* const sentence = "adam: the Model that this optimizer updates was destroyed";
  Gradients gradients;
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { adam.step(); }), sentence);
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { adam.step(gradients); }), sentence);
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { adam.minimise(loss); }), sentence);
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { adam.state(); }), sentence);
  EXPECT_EQ(adam.steps(), 0);
}

}  // namespace
}  // namespace espalier::optim
