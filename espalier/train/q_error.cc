#include "espalier/train/q_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/train/answer_pairs.h"

namespace espalier::train {

std::vector<double> q_errors(std::span<const double> expected, std::span<const double> predicted) {
  std::vector<double> result;
  for_each_pair("q_errors", expected, predicted, [&](double want, double got) {
    if (!(want > 0)) throw UsageError(fmt::format("q_errors: a right number above 0 is expected, and it is {}", want));
    result.push_back(got > 0 ? std::max(want / got, got / want) : std::numeric_limits<double>::infinity());
  });
  return result;
}

double quantile(std::span<const double> values, double share) {
  if (!(share >= 0 && share <= 1))
    throw UsageError(fmt::format("quantile: a share of 0 to 1 is expected, not {}", share));
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(below);
  if (part == 0) return sorted[below];  // the next one may be infinite, or not there
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

std::vector<Metric> q_error_metrics(std::span<const Prediction> predictions) {
  std::vector<double> expected;
  std::vector<double> predicted;
  for (const Prediction& one : predictions) {
    expected.insert(expected.end(), one.expected.begin(), one.expected.end());
    predicted.insert(predicted.end(), one.predicted.begin(), one.predicted.end());
  }
  const std::vector<double> errors = q_errors(expected, predicted);
  double logarithms = 0;
  for (const double error : errors) logarithms += std::log(error);
  return {{"q_error_mean", std::exp(logarithms / static_cast<double>(errors.size())), false},
          {"q_error_median", quantile(errors, 0.5), false},
          {"q_error_p95", quantile(errors, 0.95), false}};
}

}  // namespace espalier::train
