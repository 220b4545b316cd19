#include "espalier/train/ahead.h"

namespace espalier::train {

Ahead::Ahead(const GraphOptions& options) {
  for (std::optional<Graph>& graph : graphs_) graph.emplace(options);
}

Statistics Ahead::statistics() const {
  Statistics all = statistics_;
  for (const std::optional<Graph>& graph : graphs_) all.add(graph->statistics());
  return all;
}

}  // namespace espalier::train
