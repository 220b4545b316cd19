#include "bench/data/draws.h"

#include <algorithm>
#include <cmath>

namespace espalier::bench {

Shares::Shares(std::span<const double> weights) {
  ends_.reserve(weights.size());
  double sum = 0;
  for (const double weight : weights) ends_.push_back(sum += weight);
}

std::int32_t Shares::draw(Random& random) const {
  const double place = random.uniform() * ends_.back();
  const auto found = std::upper_bound(ends_.begin(), ends_.end() - 1, place);
  return static_cast<std::int32_t>(found - ends_.begin());
}

Shares zipf(std::int32_t words, double shift, double exponent) {
  std::vector<double> weights(static_cast<std::size_t>(words));
  for (std::size_t r = 0; r < weights.size(); ++r) weights[r] = std::pow(static_cast<double>(r) + 1 + shift, -exponent);
  return Shares(weights);
}

double draw(Random& random, std::span<const Quantile> quantiles) {
  const double share = random.uniform();
  std::size_t next = 1;
  while (next + 1 < quantiles.size() && quantiles[next].share <= share) ++next;
  const Quantile& low = quantiles[next - 1];
  const Quantile& high = quantiles[next];
  return low.value + (high.value - low.value) * (share - low.share) / (high.share - low.share);
}

std::int32_t draw_count(Random& random, std::span<const Quantile> quantiles) {
  return static_cast<std::int32_t>(std::lround(draw(random, quantiles)));
}

}  // namespace espalier::bench
