/// How many runs would have done, had values been asked for together.
///
/// A program may need the values of an instance to know what to record of it next: its runs come one after the other.
/// Runs of different instances need not, unless one reads what the other computed. What belongs to no instance, or to
/// several, comes after everything before.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "espalier/exec/explain/report.h"

namespace espalier::exec {
namespace {

class RunLevels {
 public:
  RunLevels(const Graph& graph, const NodeTable& table, std::size_t runs)
      : graph_(graph), table_(table), level_(runs, 0) {}

  /// How many runs must come before run k.
  std::int64_t find(std::span<const Run> runs, std::size_t k) {
    std::int64_t level = after_all_;
    bool is_joint = false;
    instances_.clear();
    for (const NodeId node : runs[k].nodes) {
      const InstanceId instance = graph_.instance(node);
      if (index_of(instance) >= 0)
        instances_.insert(index_of(instance));
      else
        is_joint |= !graph_.shared(node);
      for (const NodeId input : graph_.inputs(node)) {
        const std::int32_t of = table_.run[at(table_.root[at(table_.same[at(input)])])];
        if (of >= 0 && static_cast<std::size_t>(of) < k) level = std::max(level, level_[at(of)] + 1);
      }
    }
    for (const std::int32_t instance : instances_) level = std::max(level, next_of_instance_[instance]);
    if (is_joint) level = std::max(level, highest_ + 1);
    level_[k] = level;
    highest_ = std::max(highest_, level);
    if (is_joint) after_all_ = level + 1;
    for (const std::int32_t instance : instances_) next_of_instance_[instance] = level + 1;
    return level;
  }

 private:
  const Graph& graph_;
  const NodeTable& table_;
  std::vector<std::int64_t> level_;
  std::unordered_set<std::int32_t> instances_;  // of the run
  std::unordered_map<std::int32_t, std::int64_t> next_of_instance_;
  std::int64_t highest_ = -1;
  std::int64_t after_all_ = 0;
};

}  // namespace

AskedRuns asked_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs) {
  AskedRuns asked;
  RunLevels levels(graph, table, runs.size());
  std::unordered_set<std::int64_t> known;  // pairs of a level and a signature
  std::unordered_set<std::int64_t> of_run;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    if (runs[k].nodes.empty()) continue;  // all values were there
    ++asked.runs;
    const std::int64_t level = levels.find(runs, k);
    asked.needed = std::max(asked.needed, level + 1);
    of_run.clear();
    for (const NodeId node : runs[k].nodes)
      of_run.insert(level * graph.signatures().size() + index_of(graph.signature_id(node)));
    for (const std::int64_t pair : of_run) asked.loses_batches |= !known.insert(pair).second;
  }
  return asked;
}

}  // namespace espalier::exec
