/// Observers that write files about a run into its folder: a table for spreadsheets, and events for TensorBoard.
///
///   train::CsvLog csv("run/log.csv");
///   train::TensorBoardLog events("run");  // tensorboard --logdir run
///   train::Trainer trainer(net.model, task, {.folder = "run", .observers = {&csv, &events}});
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/train/event_file.h"
#include "espalier/train/observer.h"

namespace espalier::train {

/// A row per epoch: epoch, updates, loss, accuracy (if measured), the figures of the held-out instances, whether it is
/// the best so far, seconds. Fields without a value are empty; numbers have all their digits. The file is replaced as a
/// whole after every epoch, so that it is always complete and a resumed run repeats no row.
class ESPALIER_EXPORT CsvLog : public Observer {
 public:
  explicit CsvLog(std::filesystem::path path) : path_(std::move(path)) {}
  void run_started(const RunStarted& event) override;
  void epoch_done(const EpochSummary& event) override;

 private:
  std::filesystem::path path_;
  std::vector<EpochSummary> epochs_;
};

/// The same as text, with a header.
ESPALIER_EXPORT std::string csv_text(std::span<const EpochSummary> epochs);

/// By update: train/loss, train/learning_rate, train/gradient_norm. By epoch, at its last update: epoch/loss,
/// epoch/accuracy, epoch/instances_per_second, and held_out/ with each figure. The settings are a table on the Text
/// tab. A resumed run goes on in a file of its own, which replaces what was written after the checkpoint. The file is
/// written through at evaluations, checkpoints and the end of epochs.
class ESPALIER_EXPORT TensorBoardLog : public Observer {
 public:
  /// `now` gives seconds since 1970; by default the system's clock.
  explicit TensorBoardLog(std::filesystem::path folder, std::function<double()> now = {});
  ~TensorBoardLog() override;
  void run_started(const RunStarted& event) override;
  void epoch_started(const EpochStarted& event) override;
  void step_done(const StepDone& event) override;
  void evaluated(const Evaluated& event) override;
  void epoch_done(const EpochSummary& event) override;
  void checkpoint_written(const CheckpointWritten& event) override;
  void run_ended(const RunEnded& event) override;

 private:
  std::filesystem::path folder_;
  std::function<double()> now_;
  std::unique_ptr<EventFile> file_;
  std::int64_t epoch_instances_ = 0;  // that this epoch trains on in this process
};

}  // namespace espalier::train
