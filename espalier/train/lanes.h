/// Lanes: a minibatch divided among threads, each part in a graph of its own.
///
/// A single graph divides its steps among threads by rows, which pays only for large steps. Independent instances are
/// better divided before they are recorded: then recording, scheduling and planning run in parallel too, and no step
/// waits for another thread.
///
///   train::Lanes lanes;
///   lanes.run(sizes, [&](train::Lane& lane, std::int64_t begin, std::int64_t end) {  // of the instances: words, nodes
///     std::vector<Expr> losses;
///     for (std::int64_t i = begin; i < end; ++i) {
///       lane.graph.begin_instance(keys[i]);
///       losses.push_back(net.loss(lane.graph, batch[i]));
///     }
///     sum(losses).backward({.into = &lane.gradients});
///   });
///   optimizer.step(lanes.gradients_of_parts());
///
/// The parts depend on thread_count() and the sizes alone: the same program with the same thread count computes the
/// same bits.
///
/// All lanes of a run are one minibatch: they share one step (GraphOptions::step), and begin_instance() gives keys that
/// count across the lanes. So the masks of dropout do not depend on the number of lanes, except outside of all
/// instances, where each lane draws its own. To choose the step, call lane.graph.set_step() first in `work`.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/threads.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/statistics.h"

namespace espalier::train {

/// The graph and gradients of one thread.
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

  /// Divides the instances into parts of about equal total size, one per thread and none empty, and calls
  /// work(lane, begin, end) for each, with an empty graph and empty gradients. If there is only one part, its steps are
  /// divided among the threads. Refuses (UsageError) a size below 0.
  ///
  /// Makes fewer parts if they would have less than about `least` instances. Few large parts are better if one graph
  /// keeps several threads busy, as a recursion over both directions of a sequence does.
  template <class Work>
  void run(std::span<const std::int64_t> sizes, const Work& work, std::int64_t least = 1) {
    open(sizes, least);
    run_opened(work);
  }
  /// The same for instances of equal size.
  template <class Work>
  void run(std::int64_t count, const Work& work, std::int64_t least = 1) {
    open(count, least);
    run_opened(work);
  }

  /// The lanes that the last run used, in the order of its parts.
  const std::vector<Lane*>& used() const { return used_; }
  /// The sum of their gradients, computed by the first call after a run and kept in the first lane.
  Gradients& gradients();
  /// The gradients for Optimizer::step(): one per part, in order, or only their sum after a call of gradients().
  const std::vector<Gradients*>& gradients_of_parts() const { return of_parts_; }
  /// Of the last run: the total counts of all lanes, and the times of the first, since the others ran in parallel.
  Statistics statistics() const;

 private:
  /// Finds the parts.
  void open(std::span<const std::int64_t> sizes, std::int64_t least);
  void open(std::int64_t count, std::int64_t least);
  void use(std::size_t parts);
  /// For a part that begins with this instance.
  void prepare(Lane& lane, std::int64_t begin) const;

  template <class Work>
  void run_opened(const Work& work) {
    parallel_for(static_cast<std::int64_t>(used_.size()), 1, [&](std::int64_t from, std::int64_t to) {
      for (auto part = static_cast<std::size_t>(from); part < static_cast<std::size_t>(to); ++part) {
        Lane& lane = *used_[part];
        prepare(lane, begin_[part]);
        work(lane, begin_[part], begin_[part + 1]);
      }
    });
  }

  GraphOptions options_;
  std::uint64_t step_ = 0;  // of the minibatch under way
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> used_;
  std::vector<Gradients*> of_parts_;  // once their sum was asked for, that alone
  std::vector<std::int64_t> begin_;   // of the parts, and the end of the last
};

}  // namespace espalier::train
