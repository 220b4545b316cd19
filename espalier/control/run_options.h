/// RunOptions: how run_batched() runs, and what a run took.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include "espalier/graph/graph_options.h"
#include "espalier/graph/statistics.h"

namespace espalier {

/// When the values that instances wait for are computed. By default when no instance can go on without one, which makes
/// the largest batches. Instances never wait for one that has much to compute: each run takes what everybody waits for
/// at that moment, and goes one step further in all of them.
struct RunWhen {
  /// Not later than when this many values are waited for; 0: no such limit.
  std::int64_t values = 0;
  /// Not later than after this many resumptions since the first of them was asked for, so that an instance which goes
  /// on and on without asking for a value, through tasks of its own, holds nobody up for longer.
  std::int64_t resumptions = 100'000;
};

enum class OnError : std::int32_t {
  kEndRun,       // the others end where they wait, and the run throws the InstanceError
  kEndInstance,  // the others do not notice
};

/// What a run took.
struct RunStatistics {
  /// Of all its graphs together. `peak_bytes` is the most that they had in use at any moment.
  Statistics graphs;
  std::int64_t instances = 0;       // begun
  std::int64_t most_in_flight = 0;  // at any moment, in all lanes
  std::int64_t runs = 0;            // in which values were computed
  std::int64_t values = 0;          // waited for
  std::int64_t resumptions = 0;     // of tasks
  std::int64_t graphs_used = 0;     // at most at any moment
  std::int64_t carried = 0;         // moves of an instance to another graph, by carry()
};

struct RunOptions {
  /// Of the run's own graphs; a run in a graph that is given takes that graph's.
  GraphOptions graph = {.training = false};
  /// The most instances that are begun and not finished, in each lane: others begin as these finish.
  std::int64_t in_flight = 256;
  /// Into how many parts the instances are divided, each with a thread of the pool and graphs of its own. Pays with
  /// many instances; a run in a graph that is given has one.
  std::int64_t lanes = 1;
  RunWhen run_when = {};
  OnError on_error = OnError::kEndRun;
  /// Ends the run at the next moment at which values are to be computed.
  std::stop_token stop = {};
  /// The same, once the clock shows this.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// The clock of deadlines. Null: the steady clock.
  std::function<std::chrono::steady_clock::time_point()> clock = {};
  /// Instance i has the key first_key + i, which chooses its masks of dropout and its samples.
  std::uint64_t first_key = 0;
  /// If given, the keys of the instances.
  std::span<const std::uint64_t> keys = {};
  /// How many instances begin in one of the run's own graphs before the next one is used; 0: twice `in_flight`. A graph
  /// is cleared when all its instances have finished.
  std::int64_t graph_instances = 0;
  /// If given, filled at the end of the run, also if it throws.
  RunStatistics* statistics = nullptr;
};

}  // namespace espalier
