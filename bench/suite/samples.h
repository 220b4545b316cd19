/// The middle of measured numbers, and how far they spread.
#pragma once

#include <span>

namespace espalier::bench {

/// The number at a share (0 to 1) of the sorted ones, between two of them where it falls there; 0 of none.
double quantile(std::span<const double> samples, double share);

inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

/// The interquartile range over the median.
double relative_spread(std::span<const double> samples);

}  // namespace espalier::bench
