/// What a model answered on a split, as a report shows it: a confusion matrix or residuals, and the worst mistakes.
#pragma once

#include "espalier/base/export.h"
#include "espalier/report/run_page.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"

namespace espalier::train {

/// Fills confusion or residuals (as Task::answers() says), mistakes and mistakes_in_all. A mistake of a classifier is
/// an instance with a wrong answer; of a regressor, every instance with a known answer. The 20 with the largest loss
/// are listed, with Task::text(). More than 500 classes get no matrix.
ESPALIER_EXPORT void add_answers(const Task& task, Split split, const Evaluation& evaluation,
                                 report::RunReport& report);

}  // namespace espalier::train
