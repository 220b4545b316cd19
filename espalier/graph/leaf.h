/// What the two leaves of a graph, input data and parameters, record about themselves.
#pragma once

#include <cstdint>

#include "espalier/base/dtype.h"
#include "espalier/base/shape.h"

namespace espalier {

class Parameter;

struct LeafAttrs {
  DType dtype = DType::kFloat32;
  Shape shape;
  bool operator==(const LeafAttrs&) const = default;
};

/// The numbers, in memory of the graph.
struct InputFields {
  const void* data = nullptr;
};

/// The version tells whether the parameter was changed after it was recorded.
struct ParameterFields {
  const Parameter* parameter = nullptr;
  std::uint64_t version = 0;
};

}  // namespace espalier
