/// DyNet's rule (Neubig et al. 2017): of the signatures with ready nodes, run the one whose nodes are least deep on
/// average; the average is over all its nodes and does not change.
#include <algorithm>
#include <functional>
#include <span>

#include "espalier/batch/strategies.h"

namespace espalier::batch {

Schedule schedule_agenda(const Graph& graph, Workspace& work) {
  const auto signatures = static_cast<std::size_t>(graph.signatures);
  work.analysis.look_at(graph);
  find_depths(graph, work.depth);
  work.means.resize(signatures);
  for (std::size_t s = 0; s < signatures; ++s) work.means[s] = {0, static_cast<std::int32_t>(s)};
  for (std::size_t v = 0; v < graph.signature.size(); ++v)
    work.means[static_cast<std::size_t>(graph.signature[v])].first += work.depth.data()[v];
  for (std::size_t s = 0; s < signatures; ++s)
    if (work.analysis.nodes_of()[s] > 0) work.means[s].first /= work.analysis.nodes_of()[s];
  std::sort(work.means.begin(), work.means.end());  // ties go to the smaller id
  work.ranks.resize(signatures);
  for (std::size_t rank = 0; rank < signatures; ++rank)
    work.ranks[static_cast<std::size_t>(work.means[rank].second)] = static_cast<std::int32_t>(rank);

  std::vector<std::int32_t>& agenda = work.agenda;  // the ranks of signatures with ready nodes: a heap, least first
  agenda.clear();
  work.ready.start(graph, work.analysis);
  while (!work.ready.finished()) {
    work.ready.for_each_changed([&](std::int32_t signature, std::span<const ReadyNode> nodes) {
      if (static_cast<std::size_t>(work.ready.rows(signature)) > nodes.size()) return;  // it is there already
      agenda.push_back(work.ranks[static_cast<std::size_t>(signature)]);
      std::push_heap(agenda.begin(), agenda.end(), std::greater<>());
    });
    std::pop_heap(agenda.begin(), agenda.end(), std::greater<>());
    const std::int32_t signature = work.means[static_cast<std::size_t>(agenda.back())].second;
    agenda.pop_back();
    work.ready.run(signature, work.analysis);
  }
  Schedule result = work.ready.take();
  work.analysis.set_bound(result);
  return result;
}

}  // namespace espalier::batch
