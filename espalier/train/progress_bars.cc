#include "espalier/train/progress_bars.h"

#include <fmt/format.h>

#include <utility>

namespace espalier::train {

ProgressBars::ProgressBars(std::function<ProgressOutput()> output) : output_(std::move(output)) {}

void ProgressBars::run_started(const RunStarted& event) {
  const ProgressOutput output = output_();
  for (const std::string& note : event.notes) output.write(note + "\n");
}

void ProgressBars::epoch_started(const EpochStarted& event) {
  bar_.emplace(
      ProgressOptions{.title = fmt::format("epoch {}/{}", event.epoch, event.epochs), .total = event.instances},
      output_());
}

void ProgressBars::step_done(const StepDone& event) {
  if (bar_) bar_->update(event.done, event.epoch_loss, event.accuracy);
}

void ProgressBars::evaluation_progress(Split split, std::int64_t done, std::int64_t total) {
  if (!evaluating_) {
    finish();
    bar_.emplace(
        ProgressOptions{.title = split == Split::kHeldOut ? "held out" : std::string(name_of(split)), .total = total},
        output_());
  }
  evaluating_ = true;
  bar_->update(done);
}

void ProgressBars::evaluated(const Evaluated& event) {
  if (!bar_) return;
  const Metric* accuracy = event.evaluation.find("accuracy");
  bar_->update(event.evaluation.instances, event.evaluation.loss,
               accuracy == nullptr ? std::nullopt : std::optional(accuracy->value));
  finish();
}

void ProgressBars::epoch_done(const EpochSummary&) { finish(); }

/// An epoch that was not finished leaves its line as it is.
void ProgressBars::run_ended(const RunEnded&) {
  bar_.reset();
  evaluating_ = false;
}

void ProgressBars::finish() {
  if (bar_) bar_->finish();
  bar_.reset();
  evaluating_ = false;
}

}  // namespace espalier::train
