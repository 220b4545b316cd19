/// Fold's rule (Looks et al. 2017): nodes of one signature at one distance from the sources run together. Simple, and
/// blind to what could wait: the same signature at two depths is two steps.
#include <algorithm>

#include "espalier/batch/analysis.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

Schedule schedule_depth(const Graph& graph) {
  const std::vector<std::int32_t> depth = depths(graph);
  Schedule result;
  result.order.resize(static_cast<std::size_t>(graph.size()));
  for (std::int32_t v = 0; v < graph.size(); ++v) result.order[static_cast<std::size_t>(v)] = v;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return depth[i] != depth[j] ? depth[i] < depth[j] : graph.signature[i] < graph.signature[j];
  };
  std::stable_sort(result.order.begin(), result.order.end(), before);
  for (std::size_t i = 1; i <= result.order.size(); ++i)
    if (i == result.order.size() || before(result.order[i - 1], result.order[i]))
      result.step_begin.push_back(static_cast<std::int32_t>(i));
  set_bound(result, paths_of(graph));
  return result;
}

}  // namespace espalier::batch
