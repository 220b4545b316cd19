/// Random numbers distributed like real data: by shares, by quantiles, by word frequencies.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "espalier/base/random.h"

namespace espalier::bench {

/// Draws 0 to n - 1, each in proportion to its weight.
class Shares {
 public:
  explicit Shares(std::span<const double> weights);
  Shares(std::initializer_list<double> weights) : Shares(std::span(weights.begin(), weights.size())) {}

  std::int32_t draw(Random& random) const;
  std::int32_t size() const { return static_cast<std::int32_t>(ends_.size()); }

 private:
  std::vector<double> ends_;  // cumulative sums
};

/// Words by rank, most frequent first: the frequency of rank r is proportional to (r + shift)^-exponent
/// (Mandelbrot's form of Zipf's law; r from 1). Number 0 is the most frequent word.
Shares zipf(std::int32_t words, double shift, double exponent);

/// A share of the data does not exceed this number.
struct Quantile {
  double share = 0;
  double value = 0;
};

/// A random number with these quantiles, linear in between. The first has share 0, the last share 1.
double draw(Random& random, std::span<const Quantile> quantiles);
/// The same, rounded to an integer.
std::int32_t draw_count(Random& random, std::span<const Quantile> quantiles);

}  // namespace espalier::bench
