/// Where a run begins: anew, or where it was stopped.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/train/training_run.h"

namespace espalier::train {
namespace {

/// Sentences as lines below a first one.
std::string listed(const std::string& first, const std::vector<std::string>& sentences) {
  std::string text = first;
  for (const std::string& sentence : sentences) text += "\n  " + sentence;
  return text;
}

}  // namespace

void TrainingRun::start() {
  notes_.clear();
  pending_.clear();
  pending_score_ = {};
  if (!folder_->exists()) {
    resumed_ = started_;
    started_ = true;
    return;
  }
  const bool has_run = std::filesystem::exists(folder_->checkpoint());
  const std::string folder = folder_->path().string();
  const Start how = started_ ? Start::kResume : options_.start;
  if (!has_run && how == Start::kResume)
    throw UsageError(fmt::format("there is no run to resume in folder \"{}\"", folder));
  if (!has_run && how != Start::kReplace && std::filesystem::exists(folder_->best()))
    throw UsageError(fmt::format(
        "folder \"{}\" has best weights of a run without its checkpoint: move them, or choose another folder", folder));
  if (!has_run || how == Start::kReplace) return begin();
  const CheckpointReader checkpoint(folder_->checkpoint());
  if (how != Start::kBegin) return resume(checkpoint);
  if (!checkpoint.state().ended)
    throw UsageError(
        fmt::format("folder \"{}\" has a run that has not ended: resume it, or choose another folder", folder));
  begin();
}

void TrainingRun::begin() {
  resumed_ = false;
  started_ = true;
  std::error_code error;
  std::filesystem::remove(folder_->best(), error);  // of an earlier run
}

void TrainingRun::resume(const CheckpointReader& checkpoint) {
  const std::string folder = folder_->path().string();
  const std::vector<std::string> parameters = checkpoint.parameter_differences(model_);
  if (!parameters.empty())
    throw UsageError(listed(fmt::format("the run in folder \"{}\" has another model", folder), parameters));
  const std::vector<std::string> changes = settings_differences(checkpoint.settings(), settings_);
  if (!changes.empty() && !options_.allow_changes)
    throw UsageError(listed(fmt::format("the run in folder \"{}\" has other settings or data", folder), changes));
  for (const std::string& change : changes) notes_.push_back(change + ": the run differs from one that never stopped");
  if (checkpoint.threads() != thread_count())
    notes_.push_back(
        fmt::format("the run used {} threads and uses {} now: its bits will differ from those of a run that never "
                    "stopped",
                    checkpoint.threads(), thread_count()));
  checkpoint.load(model_, *optimizer_, average_);
  state_ = checkpoint.state();
  if (state_.ended == Ending::kFinished && state_.epoch < options_.epochs) state_.ended.reset();  // more are wanted now
  resumed_ = true;
  started_ = true;
}

void TrainingRun::tell_started() {
  tell(&Observer::run_started, RunStarted{.task = task_,
                                          .model = model_,
                                          .settings = settings_,
                                          .folder = options_.folder,
                                          .resumed = resumed_,
                                          .updates = state_.updates,
                                          .planned_updates = planned_,
                                          .history = state_.history,
                                          .notes = notes_});
}

}  // namespace espalier::train
