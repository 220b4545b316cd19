#include <chrono>
#include <utility>

#include "espalier/base/files.h"
#include "espalier/train/run_logs.h"

namespace espalier::train {
namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A Markdown table. A bar would end a cell.
std::string settings_markdown(const Settings& settings) {
  const auto cell = [](const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '|' || c == '\\') safe += '\\';
      safe += c == '\n' ? ' ' : c;
    }
    return safe;
  };
  std::string text = "| setting | value |\n|---|---|\n";
  for (const auto& [name, value] : settings) text += "| " + cell(name) + " | " + cell(value) + " |\n";
  return text;
}

}  // namespace

TensorBoardLog::TensorBoardLog(std::filesystem::path folder, std::function<double()> now)
    : folder_(std::move(folder)), now_(now ? std::move(now) : std::function<double()>(seconds_since_1970)) {}

TensorBoardLog::~TensorBoardLog() = default;

void TensorBoardLog::run_started(const RunStarted& event) {
  ensure_writable_folder(folder_);
  file_ = std::make_unique<EventFile>(folder_ / event_file_name(now_()), now_());
  if (event.resumed) file_->restart(event.updates + 1, now_());
  file_->text("settings", settings_markdown(event.settings), event.updates, now_());
  file_->flush();
}

void TensorBoardLog::epoch_started(const EpochStarted& event) { epoch_instances_ = event.instances - event.done; }

void TensorBoardLog::step_done(const StepDone& event) {
  const double now = now_();
  file_->scalar("train/loss", event.loss, event.update, now);
  file_->scalar("train/learning_rate", event.learning_rate, event.update, now);
  if (event.gradient_norm) file_->scalar("train/gradient_norm", *event.gradient_norm, event.update, now);
}

void TensorBoardLog::evaluated(const Evaluated& event) {
  const double now = now_();
  for (const Metric& metric : event.evaluation.metrics)
    file_->scalar(std::string(name_of(event.split)) + "/" + metric.name, metric.value, event.update, now);
  file_->flush();
}

void TensorBoardLog::epoch_done(const EpochSummary& event) {
  const double now = now_();
  file_->scalar("epoch/loss", event.loss, event.updates, now);
  if (event.accuracy) file_->scalar("epoch/accuracy", *event.accuracy, event.updates, now);
  if (event.seconds > 0 && epoch_instances_ > 0)
    file_->scalar("epoch/instances_per_second", static_cast<double>(epoch_instances_) / event.seconds, event.updates,
                  now);
  file_->flush();
}

void TensorBoardLog::checkpoint_written(const CheckpointWritten&) {
  if (file_ != nullptr) file_->flush();  // else it is the first one, before the run starts
}

void TensorBoardLog::run_ended(const RunEnded&) {
  if (file_ != nullptr) file_->flush();  // else the run did not start
}

}  // namespace espalier::train
