/// Picture: the nodes of a graph, with their places and steps, as pages and drawings show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/exec/batches.h"
#include "espalier/graph/graph.h"

namespace espalier::show {

struct PictureNode {
  NodeId node{};
  std::int32_t instance = 0;  // in Picture::instances
  std::int32_t step = 0;      // in Batches::steps
  std::int32_t row = 0;       // the first of its rows there
  std::int32_t rows = 1;
  double x = 0;  // columns and levels from the upper left corner
  double y = 0;
  bool merged = false;  // an equal node is computed in its place
};

/// A line from what a node needs up to the node.
struct PictureEdge {
  std::int32_t from = 0;
  std::int32_t to = 0;
};

struct PictureInstance {
  std::string name;  // "input 3", or why it belongs to none
  std::string text;  // as the caller names it
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct Picture {
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
  std::vector<PictureInstance> instances;
  double width = 0;
  double height = 0;
  std::int64_t all_instances = 0;  // with nodes, drawn or not
  std::int64_t all_nodes = 0;
};

struct PictureOptions {
  /// Instances are drawn in their order as long as no more nodes are needed.
  std::int64_t most_nodes = 6000;
  double aspect = 1.15;
  std::function<std::string(std::int32_t instance)> text;  // may be empty
};

/// The height of a level in columns.
inline constexpr double kLevelHeight = 1.3;

/// Drawn are nodes that ran in a step and those that were merged with them; leaves, parameters and views are not.
Picture make_picture(const Graph& graph, const Batches& batches, const PictureOptions& options);

}  // namespace espalier::show
