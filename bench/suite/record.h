/// Record: the measurements of one variant in one setting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite/names.h"

namespace espalier::bench {

/// Where the time of a minibatch goes, in seconds.
struct Breakdown {
  double recording = 0;
  double scheduling = 0;
  double planning = 0;
  double forward = 0;
  double backward = 0;
  double update = 0;
  // Parts of forward and backward, from a separate minibatch, because profiling itself takes time.
  double copying = 0;
  double products = 0;
  double maps = 0;
  /// The time of that minibatch; 0 if there was none.
  double profiled = 0;
};

/// The products of minibatches as they run, compared with the same calls timed alone: each several times in a row, on
/// the same memory. With one thread.
struct ProductFigures {
  /// The products of one kind.
  struct Kind {
    std::string name;   // as in "forward, prepared"
    double calls = 0;   // per minibatch
    double gflops = 0;  // billions of operations per second, as they run
    double alone = 0;   // the same, timed alone
    double share = 0;   // of the minibatch's time
  };
  std::vector<Kind> kinds;

  double gflops = 0;
  double alone = 0;
  /// Speed as they run over speed alone.
  double ratio() const { return alone == 0 ? 0 : gflops / alone; }
  /// The share of clock readings in the products' time. All other figures exclude it.
  double clock_share = 0;

  /// Where the minibatch's time goes; the shares add up to 1.
  struct Shares {
    double products = 0;
    double preparing = 0;  // laying out weights for products
    double recording = 0;
    double scheduling = 0;
    double planning = 0;
    double copying = 0;  // gathering operands
    double maps = 0;     // all computation except products
    double update = 0;
    double other = 0;  // finding rows, initialising gradients, and so on
  };
  Shares shares;
};

/// Steps, bytes and seconds are per minibatch: means, except batch_seconds.
struct Record {
  std::string workload;
  std::string sizes;
  std::int32_t batch = 0;
  Mode mode = Mode::kTrain;
  std::int32_t threads = 1;
  Variant variant = Variant::kCells;
  Leaves leaves = Leaves::kEach;
  bool real_data = false;

  /// The batch size over batch_seconds.
  double instances_per_second = 0;
  /// Interquartile range of the rounds' speeds, over their median.
  double spread = 0;
  std::int32_t rounds = 0;
  /// Comparisons with the limit that has the same leaves; none if there is no limit.
  /// The ratio of the two instances_per_second.
  std::optional<double> ratio_of_medians;
  /// The median over rounds of the ratio within a round. The targets use this one: a machine that is slow for a while
  /// slows both variants of a round.
  std::optional<double> ratio_to_limit;
  /// Nanoseconds per node (of a tree, a word, an atom) that batch_seconds exceeds the limit's.
  std::optional<double> over_limit_ns;

  /// The median over rounds.
  double batch_seconds = 0;
  double nodes = 0;  // of trees, words, atoms: mean over the minibatches, all instances together
  Breakdown breakdown;
  double steps = 0;
  double bound = 0;
  bool bound_is_exact = true;
  double bytes_copied = 0;
  std::int64_t peak_bytes = 0;
  /// If they were asked for.
  std::optional<ProductFigures> products;

  double node_seconds() const { return nodes == 0 ? 0 : batch_seconds / nodes; }
  /// Recording, scheduling and planning, as a share of the time.
  double overhead() const { return (breakdown.recording + breakdown.scheduling + breakdown.planning) / batch_seconds; }
  bool same_setting(const Record& other) const {
    return workload == other.workload && sizes == other.sizes && batch == other.batch && mode == other.mode &&
           threads == other.threads;
  }
};

using Records = std::vector<Record>;

}  // namespace espalier::bench
