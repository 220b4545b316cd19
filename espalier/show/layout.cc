#include "espalier/show/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "espalier/base/at.h"

namespace espalier::show {
namespace {

class Placing {
 public:
  explicit Placing(const LayoutGraph& graph) : graph_(graph), is_met_(at(graph.size()), 0) {
    layout_.places.resize(at(graph.size()));
  }

  NodeLayout run() {
    find_levels();
    for (std::int32_t v = 0; v < graph_.size(); ++v)
      if (is_used_[at(v)] == 0) place_under(v);
    separate();
    double right = -1;
    for (const NodePlace& place : layout_.places) right = std::max(right, place.x);
    layout_.columns = right + 1;
    return std::move(layout_);
  }

 private:
  NodePlace& place(std::int32_t v) { return layout_.places[at(v)]; }

  void find_levels() {
    is_used_.assign(at(graph_.size()), 0);
    for (std::int32_t v = 0; v < graph_.size(); ++v) {
      for (const std::int32_t u : graph_.inputs_of(v)) {
        place(v).level = std::max(place(v).level, place(u).level + 1);
        is_used_[at(u)] = 1;
      }
      layout_.levels = std::max(layout_.levels, place(v).level + 1);
    }
  }

  /// All that `root` needs and that has no place yet, then the root.
  void place_under(std::int32_t root) {
    struct Open {
      std::int32_t node;
      std::size_t next = 0;
      double first = -1;  // columns of the inputs placed on its behalf
      double last = -1;
    };
    std::vector<Open> stack{{root}};
    is_met_[at(root)] = 1;
    while (!stack.empty()) {
      Open& top = stack.back();
      const std::span<const std::int32_t> inputs = graph_.inputs_of(top.node);
      while (top.next < inputs.size() && is_met_[at(inputs[top.next])] != 0) ++top.next;
      if (top.next < inputs.size()) {
        const std::int32_t child = inputs[top.next++];
        is_met_[at(child)] = 1;
        stack.push_back({child});
        continue;
      }
      NodePlace& to = place(top.node);
      if (top.first >= 0) {
        to.x = (top.first + top.last) / 2;
      } else if (inputs.empty()) {
        to.x = next_column_++;
      } else {  // all its inputs were placed for others
        for (const std::int32_t u : inputs) to.x += place(u).x / static_cast<double>(inputs.size());
      }
      const double x = to.x;
      stack.pop_back();
      if (stack.empty()) return;
      if (stack.back().first < 0) stack.back().first = x;
      stack.back().last = x;
    }
  }

  /// Nodes of a level that are closer than a column move apart.
  void separate() {
    std::vector<std::int32_t> order(at(graph_.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return place(a).level != place(b).level ? place(a).level < place(b).level : place(a).x < place(b).x;
    });
    constexpr double kLeast = 1 - 1e-9;
    for (std::size_t i = 1; i < order.size(); ++i) {
      const NodePlace& before = place(order[i - 1]);
      NodePlace& to = place(order[i]);
      if (to.level == before.level && to.x < before.x + kLeast) to.x = before.x + 1;
    }
  }

  const LayoutGraph& graph_;
  std::vector<std::uint8_t> is_met_;
  std::vector<std::uint8_t> is_used_;
  double next_column_ = 0;
  NodeLayout layout_;
};

}  // namespace

NodeLayout lay_out(const LayoutGraph& graph) { return Placing(graph).run(); }

Packing pack(std::span<const Box> boxes, double gap, double aspect) {
  constexpr std::size_t kSorted = 12;  // fewer keep their order
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  if (boxes.size() > kSorted)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return boxes[a].height > boxes[b].height; });
  double area = 0;
  double widest = 0;
  for (const Box& box : boxes) {
    area += (box.width + gap) * (box.height + gap);
    widest = std::max(widest, box.width);
  }
  const double most = std::max(widest, std::sqrt(area * aspect));
  Packing packing;
  packing.places.resize(boxes.size());
  for (std::size_t first = 0; first < order.size();) {
    double x = 0;
    double height = 0;
    std::size_t end = first;
    for (; end < order.size(); ++end) {
      const Box& box = boxes[order[end]];
      if (end > first && x + box.width > most + 1e-9) break;
      packing.places[order[end]].x = x;
      x += box.width + gap;
      height = std::max(height, box.height);
    }
    for (; first < end; ++first) {
      BoxPlace& place = packing.places[order[first]];
      place.y = packing.height + height - boxes[order[first]].height;
      packing.width = std::max(packing.width, place.x + boxes[order[first]].width);
    }
    packing.height += height + (end < order.size() ? gap : 0);
  }
  return packing;
}

}  // namespace espalier::show
