/// Ahead: the next minibatch is recorded while this one runs.
///
/// Recording asks for the shapes of parameters and not for their numbers, so it need not wait for an update. With two
/// graphs in turns, a thread of the pool records one while the caller runs the other:
///
///   train::Ahead ahead;
///   ahead.run(
///       batches,
///       [&](Graph& graph, std::int64_t i) { return net.loss(graph, batch(i)); },              // beside the update
///       [&](const Expr& loss, std::int64_t i) { sgd.minimise(loss); total += loss.scalar(); });
///
/// It pays where a minibatch cannot be divided among threads: one small instance at a time. Where it can be,
/// train::Lanes divide recording and all the rest, and leave no thread to record ahead (docs/design.md has the
/// figures).
///
/// The numbers are those of recording and running one minibatch after the other, to the bit.
///
/// Thread safety: one thread at a time. What `record` does must be safe beside `run`: it may read the model's
/// structure, which no update changes, but not its numbers, nor anything else that `run` changes.
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

  /// For each i from 0 to count - 1, in order: calls record(graph, i) with an empty graph, and run(recorded, i) with
  /// what that gave: a loss, outputs, anything that can be copied. While run(recorded, i) is under way, i + 1 is
  /// recorded in the other graph. Exprs of i are for run(recorded, i): their graph is cleared afterwards. Where
  /// recording i + 1 throws, run(recorded, i) is finished before the exception comes out of here; where run() throws,
  /// no further one is called.
  template <class Record, class Run>
  void run(std::int64_t count, const Record& record, const Run& run) {
    std::array<std::optional<std::invoke_result_t<const Record&, Graph&, std::int64_t>>, 2> recorded;
    const bool in_turns = has_other_threads();  // else one graph, whose memory stays in the cache
    const auto place = [&](std::int64_t i) { return in_turns ? static_cast<std::size_t>(i % 2) : 0; };
    const auto record_next = [&](std::int64_t i) {
      if (i >= count) return;
      Graph& graph = *graphs_[place(i)];
      add_statistics(graph);
      graph.clear();
      recorded[place(i)].emplace(record(graph, i));
    };
    record_next(0);
    for (std::int64_t i = 0; i < count; ++i) {
      graphs_[place(i)]->use_current_parameters();
      run_beside([&] { run(*recorded[place(i)], i); }, [&] { record_next(i + 1); });
    }
  }

  /// Of all minibatches so far. Not to be asked for while they run.
  Statistics statistics() const;

 private:
  /// Of a graph that is to be cleared.
  void add_statistics(const Graph& graph) { statistics_.add(graph.statistics()); }

  std::array<std::optional<Graph>, 2> graphs_;
  Statistics statistics_;  // of what was cleared
};

}  // namespace espalier::train
