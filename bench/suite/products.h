/// Compares the products of minibatches with the same calls timed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/suite/record.h"
#include "espalier/graph/statistics.h"

namespace espalier::bench {

/// In each round a minibatch warms the cache, the next one runs with a log of its products, and then those products run
/// alone. The shares of copying and maps come from `profiled`, another minibatch of the same setting. Runs at least one
/// round, and further ones while they fit into `seconds`. Only for one thread.
ProductFigures measure_products(const std::function<Statistics(const std::vector<std::int32_t>&)>& run,
                                const std::function<std::vector<std::int32_t>()>& next_minibatch,
                                const Breakdown& profiled, double seconds);

}  // namespace espalier::bench
