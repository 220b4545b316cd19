/// Errors of predicted numbers: MSE, RMSE, MAE. Pairs whose right number is NaN do not count.
///
/// All are NaN if there are no pairs, and refuse (UsageError) unequal counts.
#pragma once

#include <span>

#include "espalier/base/export.h"

namespace espalier::train {

/// The mean of the squared differences.
ESPALIER_EXPORT double mean_squared_error(std::span<const double> expected, std::span<const double> predicted);
/// Its square root, in the unit of the numbers.
ESPALIER_EXPORT double root_mean_squared_error(std::span<const double> expected, std::span<const double> predicted);
/// The mean of the absolute differences.
ESPALIER_EXPORT double mean_absolute_error(std::span<const double> expected, std::span<const double> predicted);

}  // namespace espalier::train
