/// Batches: what the runs of a graph ran together, as plain data. For pages, pictures and tools of your own.
///
/// Read it after value(), backward() or finish(). Reading changes nothing and may be repeated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/ids.h"
#include "espalier/base/strategy.h"
#include "espalier/graph/statistics.h"

namespace espalier {

class Graph;

/// A node of a graph and the step that computed it.
struct BatchedNode {
  /// In Batches::steps; -1 for a leaf, a view, and a node that was not needed.
  std::int32_t step = -1;
  std::int32_t row = -1;  // the first of its rows in that step
  /// The node whose row it shares: itself for most, an equal node if it is merged, the source of a view, and of a
  /// further result of a cell the first one.
  NodeId computed_by{};
  bool merged = false;
};

/// One kernel call over many nodes.
struct BatchedStep {
  std::int32_t run = 0;    // in Batches::runs
  std::int32_t step = 0;   // of its run
  NodeId first{};          // of its nodes, the one that was recorded first
  std::int32_t group = 0;  // equal for steps of one signature
  std::int64_t nodes = 0;
  std::int64_t rows = 0;            // more than nodes if some have many
  std::int64_t instances = 0;       // those of merged nodes included
  std::int64_t other_lines = 0;     // of the program, beside that of the first node
  std::int64_t copied = 0;          // bytes, to bring operands side by side
  std::int64_t needed = 0;          // bytes of values that are still to be read when it is done
  std::vector<std::string> shared;  // the weights that all its nodes use, by name
};

struct BatchedRun {
  std::int64_t number = 0;  // of all runs since the graph was made or cleared
  bool training = false;    // made to be differentiated
  bool finish = false;      // the last run of a graph that is not
  std::int64_t steps = 0;
  std::int64_t bound = 0;  // no schedule has fewer steps
  bool bound_is_exact = true;
  std::int64_t instances = 0;
  std::int64_t value_bytes = 0;     // memory set aside for values
  std::int64_t gradient_bytes = 0;  // and for gradients
};

/// Nodes of one op that did not run together, and why.
struct Apart {
  enum class Why : std::int32_t {
    kKinds,       // signatures differ: shapes, weights, attributes
    kChain,       // each waits for the one before
    kForced,      // the order of other steps divided them
    kRuns,        // values were asked for in between, or the memory budget divided them
    kOwnWeights,  // a product per node: its weights are computed, not shared
    kPlain,       // float64 runs by plain code
    kNoStrategy,  // Strategy::kNone
  };
  Why kind = Why::kKinds;
  std::string places;  // "tanh model.cc:8, linear model.cc:7 and 3 more"
  std::string why;     // a sentence without its end
  std::int64_t nodes = 0;
  std::int64_t steps = 0;
  std::int64_t least_steps = 0;      // if nothing kept them apart
  std::vector<std::int32_t> groups;  // BatchedStep::group
};

/// What a strategy makes, or would have made, of the same runs.
struct StrategyCounts {
  Strategy strategy = Strategy::kFrontier;
  std::int64_t steps = 0;
  std::int64_t bound = 0;
  bool bound_is_exact = true;
  std::int64_t nodes = 0;
  std::int64_t copied = -1;  // bytes; -1: not known, as values were given up in between
};

struct Batches {
  std::vector<BatchedNode> nodes;  // by NodeId
  std::vector<BatchedStep> steps;  // run after run
  std::vector<BatchedRun> runs;    // whose plans are still there
  std::vector<Apart> apart;        // those that concern most nodes first
  Statistics statistics;
  bool is_reference = false;  // computed by the reference twin, which has no steps
};

/// Takes time and memory linear in nodes and steps.
ESPALIER_EXPORT Batches read_batches(const Graph& graph);
/// Schedules and plans the same runs again by every strategy; computes nothing.
ESPALIER_EXPORT std::vector<StrategyCounts> compare_strategies(const Graph& graph);

}  // namespace espalier
