/// Compares the gradients that backward() gives with central differences, in float64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/linear.h"
#include "espalier/tensor/tensor.h"

namespace espalier::testing {

/// A float64 vector as a leaf.
inline Expr vector_input(Graph& graph, const std::vector<double>& values, DType dtype = DType::kFloat64) {
  return graph.input(Tensor::from({static_cast<std::int64_t>(values.size())}, values).to(dtype));
}

/// A sum of the elements of a vector with a weight of its own for each: a plain sum hides mistakes that cancel.
inline Expr asymmetric_sum(const Expr& y) {
  const std::int32_t size = y.shape()[0];
  Tensor weights({size, 1}, y.dtype());
  for (std::int32_t j = 0; j < size; ++j) weights.set(j, (j % 2 == 0 ? 0.5 : -0.7) + 0.13 * j);
  return linear(y, y.graph().input(weights));
}

/// Gives every parameter numbers in -0.8 to 0.8, biases included, and makes the model float64.
inline void randomise(Model& model, std::uint64_t seed = 7) {
  model.to(DType::kFloat64);
  Random random(seed);
  for (Parameter* parameter : model.parameters()) {
    Tensor& value = parameter->mutable_value();
    for (std::int64_t i = 0; i < value.elements(); ++i) value.set(i, random.uniform(-0.8, 0.8));
  }
}

/// Expects, for each number of each parameter of a float64 model, that backward() on the one-element result of `loss`
/// gives its derivative. `loss` is called often, each time with a new graph.
inline void check_gradients(Model& model, const std::function<Expr(Graph&)>& loss, double tolerance = 1e-8) {
  constexpr double kStep = 1e-5;
  const GraphOptions options{.step = 0, .dtype = DType::kFloat64};  // the same masks every time
  model.gradients().clear();
  {
    Graph graph(options);
    loss(graph).backward();
  }
  std::vector<Tensor> given;
  for (const Parameter* parameter : model.parameters()) {
    const Gradient* gradient = model.gradients().find(*parameter);
    given.push_back(gradient != nullptr ? gradient->to_tensor() : Tensor(parameter->shape(), DType::kFloat64));
  }
  const auto loss_with = [&](Parameter& parameter, std::int64_t i, double value) {
    parameter.mutable_value().set(i, value);
    Graph graph(options);
    return loss(graph).scalar();
  };
  for (std::size_t p = 0; p < given.size(); ++p) {
    Parameter& parameter = *model.parameters()[p];
    for (std::int64_t i = 0; i < given[p].elements(); ++i) {
      const double old = parameter.value().at(i);
      const double above = loss_with(parameter, i, old + kStep);
      const double below = loss_with(parameter, i, old - kStep);
      parameter.mutable_value().set(i, old);
      const double expected = (above - below) / (2 * kStep);
      EXPECT_NEAR(given[p].at(i), expected, tolerance * (1 + std::abs(expected)))
          << "element " << i << " of parameter \"" << parameter.name() << "\"";
    }
  }
}

}  // namespace espalier::testing
