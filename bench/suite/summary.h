/// Comparisons across settings, printed at the end of a run. Every ratio is computed from the figures printed beside
/// it.
#pragma once

#include <string>

#include "bench/suite/record.h"

namespace espalier::bench {

/// The gain from computing equal leaves once (cells), a line per workload, size, mode and number of threads; empty if
/// nothing was measured both ways.
std::string memoisation_text(const Records& records);

/// B0 in the form of Looks et al. (2017), table 1: seconds by hand, for trees of one shape and of mixed shapes; empty
/// if that was not measured.
std::string fold_table_text(const Records& records);

/// The latency of estimating one query plan and many candidates (B7, inference); empty if not measured.
std::string latency_text(const Records& records);

/// The speed of products against the same calls timed alone, by kind, and the shares of the other time; empty if not
/// measured.
std::string products_text(const Records& records);

}  // namespace espalier::bench
