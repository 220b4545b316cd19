/// How an Expr finds its graph, and finds out that it is gone.
#pragma once

#include <atomic>
#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

class Graph;

/// A place that outlives the graph it names: slots are reused, never returned. `generation` grows whenever the graph is
/// cleared or destroyed, so an Expr that remembers an older one is stale.
struct GraphSlot {
  std::atomic<Graph*> graph{nullptr};
  std::atomic<std::uint32_t> generation{0};
  GraphSlot* next_free = nullptr;

  static GraphSlot* acquire(Graph* graph);
  static void release(GraphSlot* slot);
};

}  // namespace espalier
