/// Measures the variants of a workload against each other in one setting.
///
/// In each round all variants run the same minibatches, one variant after the other, in an order that rotates. A
/// machine that becomes slower or faster therefore affects all of them alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/suite/names.h"
#include "bench/suite/record.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

struct Contender {
  Variant variant = Variant::kCells;
  Leaves leaves = Leaves::kEach;
  std::unique_ptr<Runner> runner;
};

struct Setting {
  std::int32_t batch = 1;
  Mode mode = Mode::kTrain;
  std::int32_t threads = 1;
  /// Also time the products of cells alone. Only with one thread.
  bool products = false;
};

struct Effort {
  /// For the whole setting; exceeded only to complete `least_rounds`.
  double seconds = 5;
  std::int32_t least_rounds = 3;
  std::int32_t most_rounds = 25;
};

struct Measurement {
  Records records;
  /// Variants that were skipped because they take too long, with the time of a minibatch: "unbatched each (6.1 s)".
  std::vector<std::string> left_out;
};

/// Sets the number of threads. Records are in the order of the contenders.
Measurement measure(const Workload& workload, std::vector<Contender>& contenders, const Setting& setting,
                    const Effort& effort);

}  // namespace espalier::bench
