/// Compares what a program computes with cells, with their ops one by one, and by the twin.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"

namespace espalier::testing {

/// Records a loss; what is put into `inputs` is to have its gradient compared.
using LossOf = std::function<Expr(Graph&, std::vector<Expr>& inputs)>;

/// The loss, then the gradients of all parameters (zeros where there is none) and of the inputs.
inline std::vector<Tensor> numbers_of(const Model& model, const GraphOptions& options, const LossOf& record) {
  Graph graph(options);
  graph.set_step(options.step.value_or(0));  // the same masks in every way
  std::vector<Expr> inputs;
  const Expr loss = record(graph, inputs);
  Gradients gradients;
  loss.backward({.into = &gradients, .wanted = inputs});
  std::vector<Tensor> numbers{loss.value()};
  for (const Parameter* parameter : model.parameters()) {
    const Gradient* gradient = gradients.find(*parameter);
    numbers.push_back(gradient != nullptr ? gradient->to_tensor() : Tensor(parameter->shape()));
  }
  for (const Expr& input : inputs) numbers.push_back(input.grad());
  return numbers;
}

/// The values of `outputs` after finish().
inline std::vector<Tensor> finished_values(Graph& graph, const std::vector<Expr>& outputs) {
  graph.finish(outputs);
  std::vector<Tensor> values;
  for (const Expr& output : outputs) values.push_back(output.value());
  return values;
}

inline void expect_near(const std::vector<Tensor>& given, const std::vector<Tensor>& expected, const std::string& way,
                        double tolerance = 1e-4) {
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t t = 0; t < given.size(); ++t) {
    ASSERT_EQ(given[t].shape(), expected[t].shape());
    double largest = 0.01;
    constexpr double kOfTerms = 1e-5;  // what is compared is a sum of terms of about 1, which may cancel
    for (std::int64_t i = 0; i < expected[t].elements(); ++i) largest = std::max(largest, std::abs(expected[t].at(i)));
    for (std::int64_t i = 0; i < given[t].elements(); ++i)
      ASSERT_NEAR(given[t].at(i), expected[t].at(i), tolerance * largest + kOfTerms)
          << way << ": element " << i << (t == 0 ? " of the loss" : " of gradient ") << t;
  }
}

/// Of float32 models.
inline void expect_cells_agree(const Model& model, const LossOf& record) {
  const std::vector<Tensor> expected = numbers_of(model, {.execution = Execution::kPlain}, record);
  expect_near(numbers_of(model, {}, record), expected, "cells");
  expect_near(numbers_of(model, {.expand_cells = true}, record), expected, "expanded");
  expect_near(numbers_of(model, {.strategy = Strategy::kNone}, record), expected, "cells one by one");
  // Where no gradient of a node is wanted, their memory is used again.
  const LossOf unwanted = [&](Graph& graph, std::vector<Expr>& inputs) {
    const Expr loss = record(graph, inputs);
    inputs.clear();
    return loss;
  };
  const std::vector<Tensor> of_parameters(expected.begin(), expected.begin() + 1 + std::ssize(model.parameters()));
  expect_near(numbers_of(model, {}, unwanted), of_parameters, "cells, inputs not wanted");
}

}  // namespace espalier::testing
