/// OwnStrategy: a rule of your own that groups nodes into steps.
///
///   const auto by_depth = std::make_shared<batch::OwnStrategy>("by depth", [](const batch::Graph& graph) {
///     std::vector<std::int32_t> step(graph.signature.size());  // of each node
///     ...
///     return step;
///   });
///   Graph g({.own_strategy = by_depth});
///
/// Thread safety: the function is called from any thread, and from several at once if graphs in several threads use it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/batch/graph.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

class ESPALIER_EXPORT OwnStrategy {
 public:
  /// Gives the number of the step of each node, 0 or more. Steps run in the order of their numbers, and numbers may be
  /// left out. Nodes of a step must have one signature, and their inputs must be in earlier steps. The function must
  /// give the same answer for equal graphs: plans are kept and used again.
  using Function = std::function<std::vector<std::int32_t>(const Graph& graph)>;

  /// The name is what Graph::explain() says.
  OwnStrategy(std::string name, Function steps);

  const std::string& name() const { return name_; }
  /// Another number for each strategy of the process, above 0.
  std::uint64_t uid() const { return uid_; }

  /// The schedule of a graph. Refuses (UsageError) steps that are not a schedule, and names the first node at fault.
  Schedule schedule(const Graph& graph) const;

 private:
  std::string name_;
  Function steps_;
  std::uint64_t uid_;
};

}  // namespace espalier::batch
