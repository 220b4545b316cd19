/// Lanes: a minibatch divided among threads, each part in a graph of its own.
///
/// Steps of one graph are divided among threads by rows, which pays for large steps only. Instances that have nothing
/// to do with each other are better divided before they are recorded: then recording, scheduling and planning are
/// divided too, and no step waits for another thread.
///
///   train::Lanes lanes;
///   lanes.run(batch.size(), [&](train::Lane& lane, std::int64_t begin, std::int64_t end) {
///     std::vector<Expr> losses;
///     for (std::int64_t i = begin; i < end; ++i) {
///       lane.graph.begin_instance(keys[i]);
///       losses.push_back(net.loss(lane.graph, batch[i]));
///     }
///     sum(losses).backward({.into = &lane.gradients});
///   });
///   optimizer.step(lanes.gradients());
///
/// The parts depend on thread_count() alone: the same program with the same thread count computes the same bits.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/threads.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/statistics.h"

namespace espalier::train {

/// What one thread works with.
struct Lane {
  explicit Lane(const GraphOptions& options) : graph(options) {}

  Graph graph;
  Gradients gradients;
};

class ESPALIER_EXPORT Lanes {
 public:
  explicit Lanes(const GraphOptions& options = {});
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Calls work(lane, begin, end) for equal parts of [0, count), one for each thread and none without instances. The
  /// lane's graph and gradients are empty then. Where there is one part, its steps are divided among the threads.
  template <class Work>
  void run(std::int64_t count, const Work& work) {
    open(count);
    const auto parts = static_cast<std::int64_t>(used_.size());
    parallel_for(parts, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t p = from; p < to; ++p) {
        Lane& lane = *used_[static_cast<std::size_t>(p)];
        lane.graph.clear();
        lane.gradients.clear();
        work(lane, count * p / parts, count * (p + 1) / parts);
      }
    });
  }

  /// Those that the last run used, in the order of its parts.
  const std::vector<Lane*>& used() const { return used_; }
  /// The sum of their gradients, which is made at the first call after a run: it is the first lane's afterwards.
  Gradients& gradients();
  /// Of the last run: the counts of all lanes together, the seconds of the first, beside which the others ran.
  Statistics statistics() const;

 private:
  void open(std::int64_t count);

  GraphOptions options_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> used_;
  bool summed_ = false;
};

}  // namespace espalier::train
