/// Matrices and vectors in plain scalar double code: what the layers are compared with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/model.h"

namespace espalier::testing {

using Vec = std::vector<double>;

inline double sigma(double x) { return 1 / (1 + std::exp(-x)); }

/// Reads single numbers of a model's parameters.
class Weights {
 public:
  Weights(const Model& model, std::string prefix) : model_(&model), prefix_(std::move(prefix)) {}

  /// b[j]
  double at(const std::string& name, std::size_t j) const {
    return parameter(name).value().at(static_cast<std::int64_t>(j));
  }
  /// W[row, column]
  double at(const std::string& name, std::size_t row, std::size_t column) const {
    const Parameter& W = parameter(name);
    return W.value().at(static_cast<std::int64_t>(row) * W.shape()[1] + static_cast<std::int64_t>(column));
  }
  /// Element `column` of x W, where x meets the rows of W from `first_row` on.
  double product(const Vec& x, const std::string& name, std::size_t column, std::size_t first_row = 0) const {
    double total = 0;
    for (std::size_t k = 0; k < x.size(); ++k) total += x[k] * at(name, first_row + k, column);
    return total;
  }

 private:
  const Parameter& parameter(const std::string& name) const { return model_->parameter(prefix_ + "." + name); }

  const Model* model_;
  std::string prefix_;
};

inline void expect_value(const Expr& given, const Vec& expected, double tolerance = 1e-12) {
  const Tensor value = given.value();
  ASSERT_EQ(value.elements(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t j = 0; j < expected.size(); ++j)
    EXPECT_NEAR(value.at(static_cast<std::int64_t>(j)), expected[j], tolerance) << "element " << j;
}

/// "W [3, 4], b [4]": all parameters in the order they were added.
inline std::string parameters_of(const Model& model) {
  std::string text;
  for (const Parameter* parameter : model.parameters())
    text += (text.empty() ? "" : ", ") + parameter->name() + " " + parameter->shape().to_string();
  return text;
}

}  // namespace espalier::testing
