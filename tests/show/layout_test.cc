#include "espalier/show/layout.h"

#include <gtest/gtest.h>

#include "espalier/base/random.h"

namespace espalier::show {
namespace {

LayoutGraph graph_of(const std::vector<std::vector<std::int32_t>>& inputs) {
  LayoutGraph graph;
  for (const std::vector<std::int32_t>& of : inputs) {
    graph.inputs.insert(graph.inputs.end(), of.begin(), of.end());
    graph.end_node();
  }
  return graph;
}

TEST(Layout, PutsATreeAboveItsLeavesInTheirOrder) {
  const NodeLayout layout = lay_out(graph_of({{}, {}, {0, 1}, {}, {2, 3}}));
  EXPECT_EQ(layout.levels, 3);
  EXPECT_EQ(layout.columns, 3);
  EXPECT_EQ(layout.places[0].x, 0);
  EXPECT_EQ(layout.places[1].x, 1);
  EXPECT_EQ(layout.places[3].x, 2);
  EXPECT_EQ(layout.places[2].x, 0.5);
  EXPECT_EQ(layout.places[4].x, 1.25);
  EXPECT_EQ(layout.places[4].level, 2);
}

TEST(Layout, KeepsNodesOfALevelApartInAnyGraph) {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    LayoutGraph graph;
    const auto size = static_cast<std::int32_t>(1 + random.below(60));
    for (std::int32_t v = 0; v < size; ++v) {
      for (std::int64_t n = v == 0 ? 0 : random.below(4); n > 0; --n)
        graph.inputs.push_back(static_cast<std::int32_t>(random.below(v)));
      graph.end_node();
    }
    const NodeLayout layout = lay_out(graph);
    for (std::int32_t a = 0; a < size; ++a) {
      const NodePlace& place = layout.places[static_cast<std::size_t>(a)];
      EXPECT_GE(place.x, 0);
      EXPECT_LE(place.x, layout.columns - 1);
      for (const std::int32_t input : graph.inputs_of(a))
        EXPECT_LT(layout.places[static_cast<std::size_t>(input)].level, place.level);
      for (std::int32_t b = 0; b < a; ++b) {
        const NodePlace& other = layout.places[static_cast<std::size_t>(b)];
        if (other.level == place.level) {
          EXPECT_GE(std::abs(other.x - place.x), 1 - 1e-6);
        }
      }
    }
  }
}

TEST(Layout, TakesAChainOfAMillionNodes) {
  LayoutGraph graph;
  for (std::int32_t v = 0; v < 1'000'000; ++v) {
    if (v > 0) graph.inputs.push_back(v - 1);
    graph.end_node();
  }
  EXPECT_EQ(lay_out(graph).levels, 1'000'000);
}

TEST(Packing, KeepsBoxesApartAndWithinItsSize) {
  std::vector<Box> boxes;
  for (int i = 0; i < 40; ++i) boxes.push_back({1.0 + i % 7, 1.0 + i % 5});
  const Packing packing = pack(boxes, 2, 1.5);
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    EXPECT_LE(packing.places[a].x + boxes[a].width, packing.width + 1e-9);
    EXPECT_LE(packing.places[a].y + boxes[a].height, packing.height + 1e-9);
    for (std::size_t b = 0; b < a; ++b) {
      const bool beside = packing.places[a].x >= packing.places[b].x + boxes[b].width + 2 - 1e-9 ||
                          packing.places[b].x >= packing.places[a].x + boxes[a].width + 2 - 1e-9;
      const bool above = packing.places[a].y >= packing.places[b].y + boxes[b].height - 1e-9 ||
                         packing.places[b].y >= packing.places[a].y + boxes[a].height - 1e-9;
      EXPECT_TRUE(beside || above) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace espalier::show
