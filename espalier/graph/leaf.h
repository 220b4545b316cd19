/// What the two leaves of a graph, input data and parameters, record about themselves.
#pragma once

#include <array>
#include <cstddef>
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

/// The numbers, in memory of the graph; of most constants that are zero, the zeros that all of them share.
struct InputFields {
  const void* data = nullptr;
};
struct Zeros {
  static constexpr std::size_t kBytes = std::size_t{1} << 14;
  alignas(64) static constexpr std::array<std::byte, kBytes> kData{};

  static bool are_at(const void* data) { return data == kData.data(); }
};

/// The version tells whether the parameter was changed after it was recorded.
struct ParameterFields {
  const Parameter* parameter = nullptr;
  std::uint64_t version = 0;
};

}  // namespace espalier
