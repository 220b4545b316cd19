/// What a strategy sees of a graph: nodes, their inputs and their signatures, all as integers.
#pragma once

#include <cstdint>
#include <span>

namespace espalier::batch {

/// A view; inputs come before their users: every input of node v is smaller than v.
struct Graph {
  /// The signature of each node, 0 to signatures - 1.
  std::span<const std::int32_t> signature;
  std::int32_t signatures = 0;
  /// The inputs of node v are inputs[input_begin[v]] to inputs[input_begin[v + 1] - 1]; a node may occur twice.
  std::span<const std::int32_t> input_begin;
  std::span<const std::int32_t> inputs;

  std::int32_t size() const { return static_cast<std::int32_t>(signature.size()); }
  std::span<const std::int32_t> inputs_of(std::int32_t node) const {
    const auto v = static_cast<std::size_t>(node);
    return inputs.subspan(static_cast<std::size_t>(input_begin[v]),
                          static_cast<std::size_t>(input_begin[v + 1] - input_begin[v]));
  }
};

}  // namespace espalier::batch
