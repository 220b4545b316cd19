/// Room exec/explain: what ran together, and why the rest did not.
///
/// In: the runs of a graph with their plans, and statistics. Out: text. It reads and changes nothing.
///
/// This header: what explain() finds out about runs before it puts it into words.
///
/// A *group* is the nodes that one step could hold as far as their signatures go, over all runs: those of one
/// signature, and by themselves those of it that have a row of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/exec/batches.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

struct StepFacts {
  std::int32_t group = 0;
  NodeId first{};  // of its nodes, the one that was recorded first
  std::int64_t nodes = 0;
  std::int64_t rows = 0;         // more than nodes, where some have many
  std::int64_t instances = 0;    // those of merged nodes included
  bool any_joint = false;        // some nodes join several instances
  bool any_shared = false;       // some are computed from parameters alone
  std::int64_t other_lines = 0;  // of the user's program, beside that of the first node
  std::int64_t copied = 0;       // bytes

  /// Told in the same words, but for the line.
  bool is_like(const StepFacts& other) const {
    return group == other.group && nodes == other.nodes && rows == other.rows && instances == other.instances &&
           any_joint == other.any_joint && any_shared == other.any_shared && copied == other.copied;
  }
};

struct RunFacts {
  std::vector<StepFacts> steps;
  std::int64_t instances = 0;
  std::int64_t copied = 0;

  bool is_like(const RunFacts& other) const {
    return instances == other.instances &&
           std::equal(steps.begin(), steps.end(), other.steps.begin(), other.steps.end(),
                      [](const StepFacts& a, const StepFacts& b) { return a.is_like(b); });
  }
};

struct Group {
  NodeId first{std::numeric_limits<std::int32_t>::max()};
  std::int64_t nodes = 0;
  std::int64_t runs = 0;
  // In the run where it took most steps:
  std::int64_t steps = 0;
  std::int64_t chain = 0;   // the most of its nodes on any one path
  bool is_exact = true;     // else the chain is at least so long
  std::int32_t number = 0;  // among all groups
};

/// Reads the runs of one graph, one after the other. Time and memory are linear in nodes and steps.
class RunReader {
 public:
  RunReader(const Graph& graph, const NodeTable& table);
  ~RunReader();
  RunReader(const RunReader&) = delete;
  RunReader& operator=(const RunReader&) = delete;

  RunFacts read(const Run& run);

  /// Of the runs read so far; those without nodes are empty.
  std::span<const Group> groups() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Operand i of a node is one tensor for its whole step.
bool is_one_for_all(const Graph& graph, NodeId node, std::size_t i);

/// As in `"cell.W"`, or "node 12" for what is computed from parameters.
std::string shared_name(const Graph& graph, NodeId node);

/// What kept nodes apart, those that concern most nodes first. `divided` says that the memory budget divided a run.
std::vector<Apart> reasons(const Graph& graph, std::span<const Group> groups, bool divided);

/// How a program asked for values.
struct AskedRuns {
  std::int64_t runs = 0;
  std::int64_t needed = 0;     // had all instances asked at the same time
  bool loses_batches = false;  // nodes of one signature ran in several runs that need not follow each other
};
AskedRuns asked_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs);

/// How many bytes the values of a run take and, if it is to be differentiated, its gradients.
std::string memory_text(const plan::Plan& plan, bool with_gradients);

/// What Graph::explain() says of the runs of a graph, without its notes.
std::string explain_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs,
                         std::span<const Run> finished, const Statistics& statistics);

}  // namespace espalier::exec
