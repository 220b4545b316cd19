/// evaluate(): the loss, the predictions and the metrics of a model on a split.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/train/task.h"

namespace espalier::train {

struct Evaluation {
  std::int64_t instances = 0;
  double loss = 0;  // mean over the instances
  /// What Task::measure() gave, and then "loss".
  std::vector<Metric> metrics;
  /// Of all instances, in their order.
  std::vector<Prediction> predictions;

  /// Null if there is no metric of that name.
  ESPALIER_EXPORT const Metric* find(std::string_view name) const;
};

/// Called now and then with the number of instances done.
using EvaluationWatch = std::function<void(std::int64_t done, std::int64_t total)>;

/// Outside of training: dropout does nothing. Instances are divided among the threads in groups of a fixed size, so the
/// numbers do not depend on the number of threads.
ESPALIER_EXPORT Evaluation evaluate(const Task& task, Split split, const EvaluationWatch& watch = {});

}  // namespace espalier::train
