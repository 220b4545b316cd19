/// Inputs of a graph whose numbers do not matter.
#pragma once

#include "espalier/graph/graph.h"

namespace espalier::testing {

inline Expr zeros(Graph& graph, const Shape& shape, DType dtype = DType::kFloat32) {
  return graph.input(Tensor(shape, dtype));
}

}  // namespace espalier::testing
