/// GraphOptions: how a graph is computed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "espalier/base/dtype.h"
#include "espalier/base/strategy.h"
#include "espalier/graph/step_counter.h"

namespace espalier {

namespace batch {
class OwnStrategy;
}

/// Which code computes a graph.
enum class Execution : std::int32_t {
  kKernels,  // steps of many nodes, by the step kernels; float64 by the plain code
  kPlain,    // the reference twin: one node at a time, scalar code, gradients by automatic differentiation of that code
};

/// Which equal computations are done once. Random ops are never merged.
enum class Memoise : std::int32_t {
  kOff,
  /// Lookups of the same row of a table, and nodes computed from such lookups and parameters alone. Inputs and
  /// constants are not compared: nodes that depend on them are computed as often as they were recorded.
  kLookups,
  /// All nodes of one op with equal inputs and fields. Inputs and constants are equal if their bits are: each is read
  /// once more, to compare it.
  kAll,
};

struct GraphOptions {
  /// Seed and step choose the masks of dropout. Each minibatch is a step: without a `step` here, every graph that is in
  /// training takes a new number from `counter` when it records its first random op after it was made or cleared. A
  /// `step` given here holds for all minibatches of the graph that do not call Graph::set_step().
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> step = {};
  /// Must outlive the graph. Null: StepCounter::global().
  StepCounter* counter = nullptr;
  /// Outside training, dropout does nothing.
  bool training = true;
  /// The element type of leaves made from numbers that do not bring one.
  DType dtype = DType::kFloat32;
  Execution execution = Execution::kKernels;
  /// How nodes are brought together. Where batching cannot pay, as in a single small instance, kFrontier runs like
  /// kNone.
  Strategy strategy = Strategy::kFrontier;
  /// If set, used instead of `strategy`: a rule of your own (batch/own_strategy.h).
  std::shared_ptr<const batch::OwnStrategy> own_strategy = {};
  Memoise memoise = Memoise::kLookups;
  /// Records the ops of a cell one by one, as if it were a plain function: for comparing, and for finding out.
  bool expand_cells = false;
  /// The most bytes the graph may take, as Statistics::peak_bytes counts them; 0 is no limit. Where a minibatch takes
  /// more, backward() computes it in parts (a loss that is a sum or mean over instances), or computes values again
  /// instead of keeping them. What does not fit even so is refused (ResourceError, with the numbers).
  std::int64_t memory_budget = 0;
  /// Measures where the time of each step goes (Statistics::Seconds).
  bool profile = false;

  /// These options for several graphs of one minibatch: if they are for training, with the step of that minibatch.
  GraphOptions for_one_step() const {
    GraphOptions result = *this;
    if (training) result.step = take_step();
    return result;
  }
  /// The step of the next minibatch: `step`, or a new number from the counter.
  std::uint64_t take_step() const {
    if (step) return *step;
    return (counter != nullptr ? *counter : StepCounter::global()).take();
  }
};

}  // namespace espalier
