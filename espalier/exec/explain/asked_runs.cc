/// How many runs would have done, had values been asked for together.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "espalier/exec/explain/report.h"

namespace espalier::exec {

AskedRuns asked_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs) {
  AskedRuns asked;
  std::vector<std::int64_t> level(runs.size(), 0);
  std::unordered_set<std::int64_t> known;  // pairs of a level and a signature
  for (std::size_t k = 0; k < runs.size(); ++k) {
    if (runs[k].nodes.empty()) continue;  // all values were there
    ++asked.runs;
    for (const NodeId node : runs[k].nodes)
      for (const NodeId input : graph.inputs(node)) {
        const std::int32_t of = table.run[at(table.root[at(table.same[at(input)])])];
        if (of >= 0 && static_cast<std::size_t>(of) < k) level[k] = std::max(level[k], level[at(of)] + 1);
      }
    asked.needed = std::max(asked.needed, level[k] + 1);
    std::unordered_set<std::int64_t> of_run;
    for (const NodeId node : runs[k].nodes)
      of_run.insert(level[k] * graph.signatures().size() + index_of(graph.signature_id(node)));
    for (const std::int64_t pair : of_run) asked.loses_batches |= !known.insert(pair).second;
  }
  return asked;
}

}  // namespace espalier::exec
