#include "espalier/train/correlation.h"

#include <cmath>
#include <limits>
#include <vector>

#include "espalier/train/answer_pairs.h"
#include "espalier/train/ranks.h"

namespace espalier::train {
namespace {

double mean_of_all(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Of known pairs. The sums are of differences from the mean, so that a large common offset costs no digits.
double correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean_a = mean_of_all(a);
  const double mean_b = mean_of_all(b);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (aa == 0 || bb == 0) return std::numeric_limits<double>::quiet_NaN();
  return ab / std::sqrt(aa) / std::sqrt(bb);
}

struct KnownPairs {
  std::vector<double> expected;
  std::vector<double> predicted;
};

KnownPairs known_pairs(const char* metric, std::span<const double> expected, std::span<const double> predicted) {
  KnownPairs pairs;
  for_each_pair(metric, expected, predicted, [&](double want, double got) {
    pairs.expected.push_back(want);
    pairs.predicted.push_back(got);
  });
  return pairs;
}

}  // namespace

double pearson(std::span<const double> expected, std::span<const double> predicted) {
  const KnownPairs pairs = known_pairs("pearson", expected, predicted);
  return correlation(pairs.expected, pairs.predicted);
}

double spearman(std::span<const double> expected, std::span<const double> predicted) {
  const KnownPairs pairs = known_pairs("spearman", expected, predicted);
  return correlation(ranks(pairs.expected), ranks(pairs.predicted));
}

}  // namespace espalier::train
