#include "espalier/train/ahead.h"

namespace espalier::train {

Ahead::Ahead(const GraphOptions& options) {
  for (std::optional<Graph>& graph : graphs_) graph.emplace(options);
}

std::uint64_t Ahead::take_step() const {
  const GraphOptions& options = graphs_[0]->options();
  return options.training ? options.take_step() : 0;
}

void Ahead::start(Graph& graph, std::uint64_t step) {
  statistics_.add(graph.statistics());
  graph.clear();
  if (graph.options().training) graph.set_step(step);
}

Statistics Ahead::statistics() const {
  Statistics all = statistics_;
  for (const std::optional<Graph>& graph : graphs_) all.add(graph->statistics());
  return all;
}

}  // namespace espalier::train
