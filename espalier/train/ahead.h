/// Ahead: records the next minibatch while this one runs.
///
/// Recording needs the shapes of parameters but not their numbers, so it need not wait for an update. Of two graphs, a
/// thread of the pool records one while the caller runs the other:
///
///   train::Ahead ahead;
///   ahead.run(
///       batches,
///       [&](Graph& graph, std::int64_t i) { return net.loss(graph, batch(i)); },              // beside the update
///       [&](const Expr& loss, std::int64_t i) { sgd.minimise(loss); total += loss.scalar(); });
///
/// It pays if a minibatch cannot be divided among threads, as with one small instance at a time. Otherwise use
/// train::Lanes, which divides recording and everything else, and leaves no thread for recording ahead
/// (docs/figures/cells.md has the figures).
///
/// The numbers are those of recording and running one minibatch after the other, to the bit. That includes the masks of
/// dropout: the caller's thread takes the step of each minibatch from the counter (GraphOptions::step), in order,
/// before it is recorded. So while minibatch i runs, the counter has moved past i + 1: save it after run(), or choose
/// the steps with graph.set_step() in `record`.
///
/// Thread safety: one thread at a time. `record` runs in parallel with `run`: it may read the structure of the model,
/// which no update changes, but not its numbers or anything else that `run` changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "espalier/base/export.h"
#include "espalier/base/threads.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/statistics.h"

namespace espalier::train {

class ESPALIER_EXPORT Ahead {
 public:
  explicit Ahead(const GraphOptions& options = {});

  /// For each i from 0 to count - 1, in order: calls record(graph, i) with an empty graph, then run(recorded, i) with
  /// its result: a loss, outputs, anything that can be copied. During run(recorded, i), i + 1 is recorded in the other
  /// graph. Exprs of i are valid only within run(recorded, i); their graph is cleared afterwards. If recording i + 1
  /// throws, run(recorded, i) finishes before the exception is passed on. If run() throws, no further call is made.
  template <class Record, class Run>
  void run(std::int64_t count, const Record& record, const Run& run) {
    std::array<std::optional<std::invoke_result_t<const Record&, Graph&, std::int64_t>>, 2> recorded;
    const bool in_turns = has_other_threads();  // else one graph, whose memory stays in the cache
    const auto place = [&](std::int64_t i) { return in_turns ? static_cast<std::size_t>(i % 2) : 0; };
    const auto record_next = [&](std::int64_t i, std::uint64_t step) {
      if (i >= count) return;
      Graph& graph = *graphs_[place(i)];
      start(graph, step);
      recorded[place(i)].emplace(record(graph, i));
      graph.stop_recording();  // the time until it runs is none of recording
    };
    if (count > 0) record_next(0, take_step());
    for (std::int64_t i = 0; i < count; ++i) {
      graphs_[place(i)]->use_current_parameters();
      const std::uint64_t next_step = i + 1 < count ? take_step() : 0;
      run_beside([&] { run(*recorded[place(i)], i); }, [&] { record_next(i + 1, next_step); });
    }
  }

  /// Of all minibatches so far. Do not call it during run().
  Statistics statistics() const;

 private:
  std::uint64_t take_step() const;
  /// Clears a graph for the minibatch of this step.
  void start(Graph& graph, std::uint64_t step);

  std::array<std::optional<Graph>, 2> graphs_;
  Statistics statistics_;  // of what was cleared
};

}  // namespace espalier::train
