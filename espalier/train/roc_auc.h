/// ROC AUC: the area under the curve of true against false positives, which is the probability that a positive instance
/// has a higher score than a negative one (Hanley and McNeil, 1982).
#pragma once

#include <span>

#include "espalier/base/export.h"

namespace espalier::train {

/// Labels are 1 (positive), 0 (negative) or NaN (not known: does not count). Equal scores count half. NaN if there is
/// no positive or no negative label. Refuses (UsageError) other labels and unequal counts.
ESPALIER_EXPORT double roc_auc(std::span<const double> labels, std::span<const double> scores);

}  // namespace espalier::train
