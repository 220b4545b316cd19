/// GradientMaker: the gradients of minibatches of a Task, divided among the threads or recorded ahead. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/recordings.h"
#include "espalier/graph/statistics.h"
#include "espalier/train/ahead.h"
#include "espalier/train/lanes.h"
#include "espalier/train/minibatches.h"
#include "espalier/train/run_state.h"
#include "espalier/train/task.h"

namespace espalier::train {

struct GradientOptions {
  std::uint64_t seed = 1;
  Strategy strategy = Strategy::kFrontier;
  bool ahead = false;    // else in lanes
  bool measure = false;  // the answers too
  std::int64_t least_in_lane = 1;
  bool keep_recordings = false;
};

class GradientMaker {
 public:
  /// `nodes` are those of each training instance. Both must outlive it.
  GradientMaker(const Task& task, std::span<const std::int64_t> nodes, const GradientOptions& options);

  /// Called with the sums over a minibatch; the gradients are the callee's to use up.
  using Done = std::function<void(std::int64_t minibatch, const TrainingScore& score, Gradients& gradients)>;

  /// For the minibatches from `first` to before `end`, in order. The masks of dropout are those of step `first_step` in
  /// the first one, and so on.
  void run(const Minibatches& minibatches, std::int64_t first, std::int64_t end, std::uint64_t first_step,
           const Done& done);

  bool records_ahead() const { return options_.ahead; }
  const Statistics& statistics() const { return statistics_; }
  /// Of the graphs that record training instances.
  GraphOptions graph_options() const;

 private:
  struct Recorded;
  using Part = std::span<const std::size_t>;

  Recorded record(Graph& graph, Part part);
  /// The loss of an instance, through recordings_; appends its outputs.
  Expr record_instance(Graph& graph, std::size_t instance, std::vector<Expr>& outputs);
  TrainingScore differentiate(const Recorded& recorded, Part part, Gradients& into) const;
  void run_in_lanes(const Minibatches& minibatches, std::int64_t number, std::uint64_t step, const Done& done);
  void run_ahead(const Minibatches& minibatches, std::int64_t first, std::int64_t end, std::uint64_t first_step,
                 const Done& done);

  const Task& task_;
  std::span<const std::int64_t> nodes_;
  GradientOptions options_;
  Recordings recordings_;  // before the graphs that use them
  Lanes lanes_;
  Ahead ahead_;
  Gradients gradients_;  // of what is recorded ahead
  Statistics statistics_;
};

}  // namespace espalier::train
