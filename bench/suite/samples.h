/// The median of measurements, and their spread.
#pragma once

#include <span>

namespace espalier::bench {

/// The quantile at `share` (0 to 1), interpolated between neighbours; 0 if there are no samples.
double quantile(std::span<const double> samples, double share);

inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

/// The interquartile range over the median.
double relative_spread(std::span<const double> samples);

}  // namespace espalier::bench
