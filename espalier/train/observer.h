/// Observer: is told what happens in a training run, in order. Progress bars, logs and reports are observers.
///
/// A run calls run_started(), then for each epoch epoch_started(), step_done() after each update,
/// evaluation_progress() and evaluated() for the held-out instances, epoch_done(), and run_ended() last, also if the
/// run ends by an exception. checkpoint_written() comes before the first epoch, after updates and after epochs. A run
/// that is refused before it starts calls nothing.
///
/// A run that is resumed tells its observers so in run_started(): what they wrote about updates after
/// RunStarted::updates is repeated, and epochs up to RunStarted::history are not.
///
/// Thread safety: all calls come from the thread that runs the Trainer. References are valid during the call. An
/// observer that throws stops the run: nothing is lost but the work since the last checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/statistics.h"
#include "espalier/nn/model.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"

namespace espalier::train {

/// Names and values, in the order in which they are to be shown.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// What an epoch brought.
struct EpochSummary {
  std::int32_t epoch = 0;          // the first is 1
  std::int64_t updates = 0;        // since the beginning of the run
  double loss = 0;                 // the mean over the training instances, each before the update that used it
  std::optional<double> accuracy;  // likewise, if TrainerOptions::measure_training asked for it
  std::vector<Metric> held_out;    // empty if the epoch was not evaluated
  bool is_best = false;
  double seconds = 0;  // of training alone; of a resumed epoch since it was resumed
};

struct RunStarted {
  const Task& task;
  const Model& model;
  /// All that decides the numbers of the run: the options, then TrainerOptions::facts.
  const Settings& settings;
  const std::string& folder;  // empty: nothing is written
  bool resumed = false;
  std::int64_t updates = 0;               // so far
  std::int64_t planned_updates = 0;       // of the whole run
  std::span<const EpochSummary> history;  // epochs done so far
  /// Sentences that a person should see: that bits will differ, which settings changed.
  std::span<const std::string> notes;
};

struct EpochStarted {
  std::int32_t epoch = 0;  // the first is 1
  std::int32_t epochs = 0;
  std::int64_t instances = 0;  // in the training split
  std::int64_t done = 0;       // of these, when a resumed epoch goes on
};

struct StepDone {
  std::int32_t epoch = 0;
  std::int64_t update = 0;              // the first of the run is 1
  std::int64_t done = 0;                // training instances of this epoch
  double loss = 0;                      // mean over the instances of this update
  double epoch_loss = 0;                // mean over the instances of this epoch so far
  std::optional<double> accuracy;       // of this epoch so far, if it is measured
  double learning_rate = 0;             // that this update used
  std::optional<double> gradient_norm;  // before clipping, if the optimizer clips
};

struct Evaluated {
  Split split;
  std::int32_t epoch = 0;
  std::int64_t update = 0;
  const Evaluation& evaluation;
  bool is_best = false;
};

struct CheckpointWritten {
  std::string path;
  std::int64_t update = 0;
};

/// Why a run ended.
enum class Ending : std::int32_t {
  kFinished,      // all epochs are done
  kStoppedEarly,  // no improvement within the patience
  kInterrupted,   // by a signal or Trainer::request_stop(); can be resumed
  kFailed,        // by an exception
};
/// "finished", "stopped early", "interrupted", "failed".
ESPALIER_EXPORT std::string_view name_of(Ending ending);

struct RunEnded {
  Ending ending;
  std::string message;  // a sentence: what happened, and how to go on if that is possible
  std::span<const EpochSummary> history;
  const Statistics& statistics;  // of all training graphs of this process's part of the run
};

class ESPALIER_EXPORT Observer {
 public:
  virtual ~Observer();

  virtual void run_started(const RunStarted& event);
  virtual void epoch_started(const EpochStarted& event);
  virtual void step_done(const StepDone& event);
  /// First with `done` 0, when the evaluation begins.
  virtual void evaluation_progress(Split split, std::int64_t done, std::int64_t total);
  virtual void evaluated(const Evaluated& event);
  virtual void epoch_done(const EpochSummary& event);
  virtual void checkpoint_written(const CheckpointWritten& event);
  virtual void run_ended(const RunEnded& event);
};

}  // namespace espalier::train
