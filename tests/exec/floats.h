/// The numbers of a tensor, to compare with a list.
#pragma once

#include <span>
#include <vector>

#include "espalier/tensor/tensor.h"

namespace espalier::testing {

inline std::vector<float> floats(const Tensor& tensor) {
  const std::span<const float> elements = tensor.as<float>();
  return {elements.begin(), elements.end()};
}

}  // namespace espalier::testing
