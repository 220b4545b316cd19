/// Measures the variants of a workload against each other in one setting.
///
/// In each round every variant takes the same minibatches, one variant after the other and each round another one
/// first, so that a machine that grows slower or faster meanwhile does so for all of them. Speeds are compared round by
/// round.
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
  /// Whether the products of cells are timed alone, too; with one thread only.
  bool products = false;
};

struct Effort {
  /// For the setting as a whole; exceeded only for the least rounds.
  double seconds = 5;
  std::int32_t least_rounds = 3;
  std::int32_t most_rounds = 25;
};

struct Measurement {
  Records records;
  /// What would have taken too long, and how long a minibatch: "unbatched each (6.1 s)".
  std::vector<std::string> left_out;
};

/// Sets the number of threads. The order of the contenders is that of the records.
Measurement measure(const Workload& workload, std::vector<Contender>& contenders, const Setting& setting,
                    const Effort& effort);

}  // namespace espalier::bench
