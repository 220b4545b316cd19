#include "espalier/train/observer.h"

namespace espalier::train {

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::kFinished: return "finished";
    case Ending::kStoppedEarly: return "stopped early";
    case Ending::kInterrupted: return "interrupted";
    case Ending::kFailed: return "failed";
  }
  return "";
}

Observer::~Observer() = default;
void Observer::run_started(const RunStarted&) {}
void Observer::epoch_started(const EpochStarted&) {}
void Observer::step_done(const StepDone&) {}
void Observer::evaluation_progress(Split, std::int64_t, std::int64_t) {}
void Observer::evaluated(const Evaluated&) {}
void Observer::epoch_done(const EpochSummary&) {}
void Observer::checkpoint_written(const CheckpointWritten&) {}
void Observer::run_ended(const RunEnded&) {}

}  // namespace espalier::train
