#include "espalier/train/number_errors.h"

#include <cmath>
#include <limits>

#include "espalier/train/answer_pairs.h"

namespace espalier::train {
namespace {

double mean_of(double sum, std::int64_t count) {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

}  // namespace

double mean_squared_error(std::span<const double> expected, std::span<const double> predicted) {
  double sum = 0;
  const std::int64_t count = for_each_pair("mean_squared_error", expected, predicted,
                                           [&](double want, double got) { sum += (got - want) * (got - want); });
  return mean_of(sum, count);
}

double root_mean_squared_error(std::span<const double> expected, std::span<const double> predicted) {
  return std::sqrt(mean_squared_error(expected, predicted));
}

double mean_absolute_error(std::span<const double> expected, std::span<const double> predicted) {
  double sum = 0;
  const std::int64_t count = for_each_pair("mean_absolute_error", expected, predicted,
                                           [&](double want, double got) { sum += std::abs(got - want); });
  return mean_of(sum, count);
}

}  // namespace espalier::train
