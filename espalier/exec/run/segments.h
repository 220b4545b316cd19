/// Segments: what is to be differentiated, cut into pieces that run one after the other, so that only the values which
/// pass from one to the next need to stay (Chen et al., 2016, "Training deep nets with sublinear memory cost").
///
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "espalier/exec/collect/backward_request.h"
#include "espalier/graph/graph.h"
#include "espalier/tensor/tensor.h"

namespace espalier::exec {

struct Segment {
  std::vector<NodeId> given;  // nodes of earlier segments that it reads
  std::vector<NodeId> made;   // its nodes that later segments read
  std::vector<Seed> seeds;    // that are its nodes

  /// What is to be computed: the made nodes and the seeds.
  std::vector<NodeId> targets() const;
};

/// `needed` are the nodes that the seeds depend on, and they themselves, ascending. Cuts them into about equal numbers,
/// by their ids: inputs have smaller ones. The results of a cell stay together.
std::vector<Segment> cut(const Graph& graph, std::span<const NodeId> needed, std::span<const Seed> seeds,
                         std::size_t segments);

/// The values that pass from one segment to another, and what is known of their gradients.
struct Checkpoint {
  Tensor value;
  Tensor gradient;
  bool has_gradient = false;
};
using Checkpoints = std::unordered_map<std::int32_t, Checkpoint>;  // by node

}  // namespace espalier::exec
