/// Q-error: by which factor a positive number, such as the cost of a query plan, was missed: max(a / b, b / a)
/// (Moerkotte, Neumann and Steidl, VLDB 2009). 1 is exact.
#pragma once

#include <span>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/train/task.h"

namespace espalier::train {

/// Of each pair whose right number is not NaN; infinite if the predicted number is not above 0. Refuses (UsageError)
/// right numbers that are not above 0, and unequal counts.
ESPALIER_EXPORT std::vector<double> q_errors(std::span<const double> expected, std::span<const double> predicted);

/// The smallest number that a share (0 to 1) of the values does not exceed, interpolated between the two values next to
/// it: 0.5 is the median. NaN without values. Refuses (UsageError) a share outside 0 to 1.
ESPALIER_EXPORT double quantile(std::span<const double> values, double share);

/// Of all predictions: the geometric mean, the median and the 95th percentile of their q-errors, as "q_error_mean",
/// "q_error_median" and "q_error_p95". NaN without predictions. Refuses (UsageError) what q_errors() refuses.
ESPALIER_EXPORT std::vector<Metric> q_error_metrics(std::span<const Prediction> predictions);

}  // namespace espalier::train
