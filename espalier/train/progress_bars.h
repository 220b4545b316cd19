/// ProgressBars: an Observer that shows each epoch and each evaluation as a progress bar (train/progress.h).
///
/// Thread safety: as Observer.
#pragma once

#include <functional>
#include <optional>

#include "espalier/base/export.h"
#include "espalier/train/observer.h"
#include "espalier/train/progress.h"

namespace espalier::train {

class ESPALIER_EXPORT ProgressBars : public Observer {
 public:
  /// To standard error, unless another output is given.
  explicit ProgressBars(std::function<ProgressOutput()> output = [] { return ProgressOutput::to(stderr); });

  void run_started(const RunStarted& event) override;
  void epoch_started(const EpochStarted& event) override;
  void step_done(const StepDone& event) override;
  void evaluation_progress(Split split, std::int64_t done, std::int64_t total) override;
  void evaluated(const Evaluated& event) override;
  void epoch_done(const EpochSummary& event) override;
  void run_ended(const RunEnded& event) override;

 private:
  void finish();

  std::function<ProgressOutput()> output_;
  std::optional<Progress> bar_;
  bool evaluating_ = false;
};

}  // namespace espalier::train
