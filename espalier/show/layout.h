/// Where the nodes of a tree or graph are drawn: each above everything it needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace espalier::show {

/// Nodes by number; inputs come before their users. The inputs of node v are inputs[begin[v]] to
/// inputs[begin[v + 1] - 1].
struct LayoutGraph {
  std::vector<std::int32_t> begin{0};
  std::vector<std::int32_t> inputs;

  std::int32_t size() const { return static_cast<std::int32_t>(begin.size()) - 1; }
  std::span<const std::int32_t> inputs_of(std::int32_t node) const {
    const auto v = static_cast<std::size_t>(node);
    return std::span<const std::int32_t>(inputs).subspan(static_cast<std::size_t>(begin[v]),
                                                         static_cast<std::size_t>(begin[v + 1] - begin[v]));
  }
  /// Ends the inputs of the next node.
  void end_node() { begin.push_back(static_cast<std::int32_t>(inputs.size())); }
};

struct NodePlace {
  double x = 0;            // columns from the left
  std::int32_t level = 0;  // 0 for a node without inputs, else one above its highest input
};

struct NodeLayout {
  std::vector<NodePlace> places;  // no two nodes of a level are less than one column apart
  double columns = 0;
  std::int32_t levels = 0;
};

/// Leaves stand side by side in the order of their users' inputs, and a node above the middle of its inputs: trees have
/// no crossings. Time is linear but for sorting; nothing recurses.
NodeLayout lay_out(const LayoutGraph& graph);

struct Box {
  double width = 0;
  double height = 0;
};
struct BoxPlace {
  double x = 0;
  double y = 0;
};
struct Packing {
  std::vector<BoxPlace> places;
  double width = 0;
  double height = 0;
};
/// Boxes in shelves, as wide as makes all of them about `aspect` times as wide as high. Boxes of a shelf share their
/// lower edge. Many boxes are sorted by height.
Packing pack(std::span<const Box> boxes, double gap, double aspect);

}  // namespace espalier::show
