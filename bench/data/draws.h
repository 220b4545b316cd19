/// Random numbers with the distributions that real data has: a few shares, quantiles, frequencies of words.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "espalier/base/random.h"

namespace espalier::bench {

/// Draws 0 to n - 1, each as often as its share of all weights says.
class Shares {
 public:
  explicit Shares(std::span<const double> weights);
  Shares(std::initializer_list<double> weights) : Shares(std::span(weights.begin(), weights.size())) {}

  std::int32_t draw(Random& random) const;
  std::int32_t size() const { return static_cast<std::int32_t>(ends_.size()); }

 private:
  std::vector<double> ends_;  // of each share, in sums
};

/// Words by their rank, most frequent first: the frequency of rank r is proportional to (r + shift)^-exponent
/// (Mandelbrot's form of Zipf's law; r from 1). Number 0 is the most frequent word.
Shares zipf(std::int32_t words, double shift, double exponent);

/// What a share of the data does not exceed.
struct Quantile {
  double share = 0;
  double value = 0;
};

/// A number with these quantiles, which begin with share 0 and end with share 1; straight lines between them.
double draw(Random& random, std::span<const Quantile> quantiles);
/// The same, rounded.
std::int32_t draw_count(Random& random, std::span<const Quantile> quantiles);

}  // namespace espalier::bench
