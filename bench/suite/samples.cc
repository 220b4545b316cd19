#include "bench/suite/samples.h"

#include <algorithm>
#include <vector>

namespace espalier::bench {

double quantile(std::span<const double> samples, double share) {
  if (samples.empty()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - static_cast<double>(low));
}

double relative_spread(std::span<const double> samples) {
  const double middle = median(samples);
  return middle == 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle;
}

}  // namespace espalier::bench
