/// Statistics: what running a graph took, in counts and in seconds.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

/// Of all runs since the graph was made or cleared. Counts are exact and the same on every machine; seconds are not.
struct Statistics {
  std::int64_t runs = 0;
  std::int64_t nodes = 0;   // that ran in a step: leaves, views and merged nodes do not
  std::int64_t views = 0;   // slices and the like, and lookups in finish(): parts of another node's, which cost nothing
  std::int64_t merged = 0;  // nodes whose value was that of an equal node
  std::int64_t steps = 0;
  std::int64_t bound = 0;         // no schedule has fewer steps
  bool bound_is_exact = true;     // else the bound could be higher
  std::int64_t forced = 0;        // steps beyond the bound
  std::int64_t bytes_copied = 0;  // to bring operands of products and concatenations side by side
  /// The most memory the graph had in use at any moment: its records and data, its plans and tables of nodes, values
  /// and gradients of nodes. Not counted: parameters and their gradients, and memory that is kept for reuse.
  std::int64_t peak_bytes = 0;
  std::int64_t node_bytes = 0;  // of these, values and gradients of nodes: a memory budget can divide them
  std::int64_t parts = 0;       // into which the memory budget divided minibatches
  std::int64_t recomputed = 0;  // nodes computed once more, as the memory budget did not let their values stay
  std::int64_t plans = 0;       // made or taken from the cache
  std::int64_t plan_hits = 0;   // taken from the cache

  struct Seconds {
    /// Wall time from the first node recorded after the graph was made, cleared or run, to the next run. The caller's
    /// code in between counts; time before that node does not.
    double recording = 0;
    double scheduling = 0;
    double planning = 0;  // finding what is to run, and placing it
    double forward = 0;
    double backward = 0;
    // Parts of forward and backward; measured only where GraphOptions::profile asks for it.
    double copying = 0;   // bringing operands together
    double products = 0;  // with laying out their weights
    double maps = 0;      // all computation that is no product
    double update = 0;    // of the weights: for training loops, which know their optimizer
  };
  Seconds seconds;

  double rows_a_step() const { return steps == 0 ? 0 : static_cast<double>(nodes) / static_cast<double>(steps); }

  /// So many bytes are in use, so many of them for values and gradients of nodes.
  void take_peak(std::int64_t bytes, std::int64_t of_nodes) {
    if (bytes <= peak_bytes) return;
    peak_bytes = bytes;
    node_bytes = of_nodes;
  }
  /// Takes those of another graph, or of another minibatch, in: peaks are compared, all else is added.
  void add(const Statistics& other) {
    runs += other.runs;
    nodes += other.nodes;
    views += other.views;
    merged += other.merged;
    steps += other.steps;
    bound += other.bound;
    bound_is_exact = bound_is_exact && other.bound_is_exact;
    forced += other.forced;
    bytes_copied += other.bytes_copied;
    take_peak(other.peak_bytes, other.node_bytes);
    parts += other.parts;
    recomputed += other.recomputed;
    plans += other.plans;
    plan_hits += other.plan_hits;
    seconds.recording += other.seconds.recording;
    seconds.scheduling += other.seconds.scheduling;
    seconds.planning += other.seconds.planning;
    seconds.forward += other.seconds.forward;
    seconds.backward += other.seconds.backward;
    seconds.copying += other.seconds.copying;
    seconds.products += other.seconds.products;
    seconds.maps += other.seconds.maps;
    seconds.update += other.seconds.update;
  }
};

}  // namespace espalier
