/// How large a graph can get. Ids, rows and places are 32 bits wide; beyond these limits recording is refused
/// (ResourceError, with the numbers).
#pragma once

#include <cstdint>
#include <limits>

#include "espalier/graph/shared_names.h"

namespace espalier {

struct GraphLimits {
  std::int32_t nodes = kMostNodes;
  std::int32_t parameters = kMostNumbers;  // and tensors derived from parameters
  std::int32_t instances = std::numeric_limits<std::int32_t>::max();
  /// Inputs of all nodes together. Runs count them in signed integers.
  std::int64_t inputs = std::numeric_limits<std::int32_t>::max();
  /// Fields of all nodes together.
  std::int64_t field_bytes = std::numeric_limits<std::uint32_t>::max();
  /// Keys of all signatures together.
  std::int64_t key_words = std::numeric_limits<std::uint32_t>::max();
  std::int64_t rows = std::numeric_limits<std::int32_t>::max();  // of one node

  /// The limits of this process. A test may lower them before it makes a graph, so that it needs no terabytes to reach
  /// them.
  static GraphLimits& current();
};

}  // namespace espalier
