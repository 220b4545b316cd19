/// lower(): the nodes of recorded instances as a NodeList, row by row.
///
/// Equal nodes with equal operands become one. Ops that only name rows of others become none.
///
/// Thread safety: one thread at a time per graph.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "espalier/onnx/body.h"
#include "espalier/onnx/onnx.h"

namespace espalier::onnx {

/// What is known of a signature by its number.
struct KnownSignature {
  std::int32_t number = 0;
  std::int32_t results = 1;
};
/// The signature of a body, which may be new; refuses unknown ones.
using FindSignature = std::function<KnownSignature(const Body& body)>;

/// Gets the nodes of some instances, one after the other, each with the number of its first instance.
using TakeNodes = std::function<void(NodeList&& nodes, std::int64_t first, std::int64_t count)>;

/// Calls `take` for parts of at most `most` nodes. Refuses (UsageError) an instance that has more, one with another
/// number of outputs than `outputs`, and instances of several graphs.
void lower(std::span<const Instance> instances, std::size_t outputs, std::int64_t most, const FindSignature& find,
           const TakeNodes& take);

}  // namespace espalier::onnx
