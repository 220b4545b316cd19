/// Measures a limit: how fast it is, where its time goes, and how its products compare with the same ones timed alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/limit/limit_runner.h"
#include "bench/limit/watch.h"

namespace espalier::bench {

struct LimitFigures {
  double instances_per_second = 0;      // of the quickest round of each minibatch
  double gflops = 0;                    // of products, over the whole time
  std::array<double, kParts> shares{};  // of the time of all threads, by Part
  double product_gflops = 0;            // of products, over their own time
  /// The time of the products alone, one after the other without anything in between, over their time in the program.
  /// 0 with several threads, which share products in other ways.
  double product_efficiency = 0;
};

enum class Mode : std::int32_t { kTrain, kInfer };

/// Goes `rounds` times through the minibatches, after one time to warm up, and leaves the last ones out where that
/// would take more than about `seconds`. Of every minibatch the quickest round counts.
LimitFigures measure_limit(LimitRunner& limit, std::vector<std::vector<std::int32_t>> batches, Mode mode, int rounds,
                           double seconds);

}  // namespace espalier::bench
