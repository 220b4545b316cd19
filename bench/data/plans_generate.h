/// Query plans that look like those of the Join Order Benchmark.
#pragma once

#include "bench/data/sets.h"

namespace espalier::bench {

DataSet<QueryPlan> generate_plans(const Generate& generate);

}  // namespace espalier::bench
