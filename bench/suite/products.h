/// Measures the products of minibatches as they run, against the same calls timed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/suite/record.h"
#include "espalier/graph/statistics.h"

namespace espalier::bench {

/// In each round a new minibatch runs with a log of its products, after another, and then those products run alone.
/// Copying and maps are taken from `profiled`, which is of another minibatch of the same setting. At least one round;
/// no more where they would take longer than `seconds`. For one thread.
ProductFigures measure_products(const std::function<Statistics(const std::vector<std::int32_t>&)>& run,
                                const std::function<std::vector<std::int32_t>()>& next_minibatch,
                                const Breakdown& profiled, double seconds);

}  // namespace espalier::bench
