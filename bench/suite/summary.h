/// What a run says at its end beside the verdicts: comparisons that go across settings.
#pragma once

#include <string>

#include "bench/suite/record.h"

namespace espalier::bench {

/// How much computing equal leaves once gains cells, a line for each workload, size, mode and number of threads; empty
/// if nothing was measured both ways.
std::string memoisation_text(const Records& records);

/// B0 as Fold's paper has it (Looks et al., 2017, table 1): seconds by hand and by batching trees of one shape, then of
/// mixed shapes; empty if that was not measured.
std::string fold_table_text(const Records& records);

/// How long the estimates of one query plan and of many candidates take (B7, inference); empty if not measured.
std::string latency_text(const Records& records);

/// How fast products run against the same ones timed alone, by kind, and where the rest of the time goes; empty if not
/// measured.
std::string products_text(const Records& records);

}  // namespace espalier::bench
