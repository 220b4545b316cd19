/// Correlation of predicted numbers with the right ones. Pairs whose right number is NaN do not count.
///
/// NaN if there are fewer than two pairs, or if either side is constant. Refuse (UsageError) unequal counts.
#pragma once

#include <span>

#include "espalier/base/export.h"

namespace espalier::train {

/// Pearson's r: 1 if one side is a rising linear function of the other.
ESPALIER_EXPORT double pearson(std::span<const double> expected, std::span<const double> predicted);
/// Spearman's rho: Pearson's r of the ranks. Equal numbers share the mean of their ranks.
ESPALIER_EXPORT double spearman(std::span<const double> expected, std::span<const double> predicted);

}  // namespace espalier::train
