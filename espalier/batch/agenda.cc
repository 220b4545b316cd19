/// DyNet's rule (Neubig et al. 2017): of the signatures with ready nodes, run the one whose nodes are least deep on
/// average; the average is over all its nodes and does not change.
#include <set>

#include "espalier/batch/analysis.h"
#include "espalier/batch/ready.h"

namespace espalier::batch {

Schedule schedule_agenda(const Graph& graph) {
  const std::vector<std::int32_t> depth = depths(graph);
  std::vector<double> mean(static_cast<std::size_t>(graph.signatures), 0);
  std::vector<std::int32_t> count(static_cast<std::size_t>(graph.signatures), 0);
  for (std::size_t v = 0; v < depth.size(); ++v) {
    mean[static_cast<std::size_t>(graph.signature[v])] += depth[v];
    ++count[static_cast<std::size_t>(graph.signature[v])];
  }
  for (std::size_t s = 0; s < mean.size(); ++s)
    if (count[s] > 0) mean[s] /= count[s];

  std::set<std::pair<double, std::int32_t>> agenda;  // signatures with ready nodes; ties go to the smaller id
  const auto added = [&](std::int32_t node) {
    const std::int32_t signature = graph.signature[static_cast<std::size_t>(node)];
    agenda.emplace(mean[static_cast<std::size_t>(signature)], signature);
  };
  Ready ready(graph);
  ready.start(added);
  while (!ready.finished()) {
    const std::int32_t signature = agenda.begin()->second;
    agenda.erase(agenda.begin());
    ready.run(signature, added);
  }
  Schedule result = ready.take();
  set_bound(result, paths_of(graph));
  return result;
}

}  // namespace espalier::batch
