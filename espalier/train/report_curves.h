/// The curves and headlines of a report, from what observers see. Internal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/report/run_page.h"
#include "espalier/train/long_curve.h"
#include "espalier/train/observer.h"

namespace espalier::train {

/// By update, over the epoch with its fraction: 1.5 is the middle of the second.
struct UpdateCurves {
  LongCurve loss;
  LongCurve learning_rate;
  LongCurve gradient_norm;
};

/// Null if no epoch was evaluated.
const EpochSummary* best_epoch(std::span<const EpochSummary> history);

std::vector<report::LineChart> curves_of(std::span<const EpochSummary> history, const UpdateCurves& updates);

/// What this process did.
struct Work {
  std::int64_t instances = 0;
  double seconds = 0;  // of training
};
std::vector<report::Headline> headlines_of(std::span<const EpochSummary> history, std::int32_t epochs, const Work& work,
                                           std::int64_t parameters);

}  // namespace espalier::train
