/// Record: what was measured of one variant in one setting.
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
  // Parts of forward and backward, from a minibatch of its own, since measuring them takes time too.
  double copying = 0;
  double products = 0;
  double maps = 0;
  /// What that minibatch took; 0 if there was none.
  double profiled = 0;
};

/// The products of minibatches as they run, against the same calls timed alone: one after the other on the same memory,
/// each several times in a row. With one thread.
struct ProductFigures {
  /// Those of one kind.
  struct Kind {
    std::string name;   // as in "forward, prepared"
    double calls = 0;   // of a minibatch
    double gflops = 0;  // billions of operations a second, as they run
    double alone = 0;   // likewise, alone
    double share = 0;   // of the minibatch's time
  };
  std::vector<Kind> kinds;

  double gflops = 0;
  double alone = 0;
  /// Speed as they run over speed alone: the median of the rounds.
  double ratio = 0;
  /// Of their time as they run, what reading the clock took; it is left out of all these figures.
  double clock_share = 0;

  /// Where the minibatch's time goes; the shares add up to 1.
  struct Shares {
    double products = 0;
    double preparing = 0;  // laying weights out for products
    double recording = 0;
    double scheduling = 0;
    double planning = 0;
    double copying = 0;  // bringing operands together
    double maps = 0;     // all computation that is no product
    double update = 0;
    double other = 0;  // finding rows, opening gradients, and the like
  };
  Shares shares;
};

/// Numbers of steps, bytes and seconds are those of a minibatch, on average or (batch_seconds) in the middle.
struct Record {
  std::string workload;
  std::string sizes;
  std::int32_t batch = 0;
  Mode mode = Mode::kTrain;
  std::int32_t threads = 1;
  Variant variant = Variant::kCells;
  Leaves leaves = Leaves::kEach;
  bool real_data = false;

  double instances_per_second = 0;
  /// Interquartile range of the rounds' speeds, over their median.
  double spread = 0;
  std::int32_t rounds = 0;
  /// The median over rounds of this variant's speed over the limit's with the same leaves; none where there is no
  /// limit.
  std::optional<double> ratio_to_limit;
  /// Nanoseconds a node (of a tree, a word, an atom) more than the limit takes, in the same way.
  std::optional<double> over_limit_ns;

  double batch_seconds = 0;
  /// Of the fastest round, for each node: what settings that were measured at different times are compared by.
  double best_node_seconds = 0;
  double nodes = 0;  // of trees, words, atoms: of all instances of the minibatch
  Breakdown breakdown;
  double steps = 0;
  double bound = 0;
  bool bound_is_exact = true;
  double bytes_copied = 0;
  std::int64_t peak_bytes = 0;
  /// Where they were asked for.
  std::optional<ProductFigures> products;

  /// Recording, scheduling and planning, as a share of the time.
  double overhead() const { return (breakdown.recording + breakdown.scheduling + breakdown.planning) / batch_seconds; }
  bool same_setting(const Record& other) const {
    return workload == other.workload && sizes == other.sizes && batch == other.batch && mode == other.mode &&
           threads == other.threads;
  }
};

using Records = std::vector<Record>;

}  // namespace espalier::bench
