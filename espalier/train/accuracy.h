/// Accuracy: the share of questions that were answered rightly.
#pragma once

#include <span>

#include "espalier/base/export.h"

namespace espalier::train {

/// Of the questions whose expected answer is not NaN, the share with the same predicted answer; 0 if there are none.
/// Refuses (UsageError) unequal counts.
ESPALIER_EXPORT double accuracy(std::span<const double> expected, std::span<const double> predicted);

}  // namespace espalier::train
