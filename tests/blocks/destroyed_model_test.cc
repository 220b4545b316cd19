/// A block program that outlives its Model is refused by the name of a parameter.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "espalier/blocks/program.h"
#include "espalier/nn/linear.h"
#include "tests/blocks/three_ways.h"
#include "tests/support/refusal.h"

namespace espalier::blocks {
namespace {

TEST(ProgramOfADestroyedModel, IsRefusedByTheNameOfAParameter) {
  std::optional<Model> model(std::in_place);
  const nn::Linear layer(*model / "layer", 2, 3);
  const Parameter& bias = model->add("bias", {2}, init::uniform(-1, 1));
  const Program of_layer(vector(2) >> layer);
  const Program of_parameter(from_tensor(bias));
  model.reset();
  Graph graph;
  const Value input = Value::list({1, 2});
  EXPECT_NE(espalier::testing::refusal_of<UsageError>([&] {
              of_layer.record(graph, input);
            }).find("parameter \"layer.W\" was destroyed with its Model"),
            std::string::npos);
  EXPECT_NE(espalier::testing::refusal_of<UsageError>([&] {
              of_parameter.record(graph, input);
            }).find("parameter \"bias\" was destroyed with its Model"),
            std::string::npos);
}

}  // namespace
}  // namespace espalier::blocks
