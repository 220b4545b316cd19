/// TrainingRun: the loop of a Trainer, and the state that it saves and resumes. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/optim/optimizer.h"
#include "espalier/train/checkpoint.h"
#include "espalier/train/gradient_maker.h"
#include "espalier/train/run_folder.h"
#include "espalier/train/stop_signals.h"
#include "espalier/train/trainer.h"
#include "espalier/train/trainer_options.h"

namespace espalier::train {

class TrainingRun {
 public:
  TrainingRun(Model& model, const Task& task, TrainerOptions options);

  RunResult run();
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  Statistics statistics() const;
  const Settings& settings() const { return settings_; }

 private:
  /// What to_all() calls of each observer.
  template <class Event>
  using Method = void (Observer::*)(const Event&);
  template <class Event>
  void tell(Method<Event> method, const Event& event) const {
    for (Observer* observer : options_.observers) (observer->*method)(event);
  }

  // training_start.cc: where a run begins
  void start();
  void begin();
  void resume(const CheckpointReader& checkpoint);
  void tell_started();

  // training_run.cc: the loop
  Ending loop();
  bool train_epoch();
  std::int64_t chunk_end() const;
  void add_minibatch(std::int64_t number, const TrainingScore& score, Gradients& gradients);
  void update(Gradients& gradients);
  void require_finite(double loss, const Gradients* gradients, std::int64_t minibatch) const;
  bool wants_to_stop() const;
  RunResult result_of(Ending ending) const;

  // training_epoch.cc: what happens after an epoch
  void end_epoch();
  void evaluate_held_out(EpochSummary& summary);
  /// Refuses (UsageError), before any work, a metric that the task does not have.
  void check_metric() const;
  const Metric& chosen_metric(const Evaluation& evaluation) const;
  void keep_best(const Metric& metric);
  void save();
  void load_result();

  Model& model_;
  const Task& task_;
  TrainerOptions options_;
  std::vector<std::int64_t> nodes_;  // of the training instances
  std::int64_t planned_;             // updates
  std::unique_ptr<optim::Optimizer> optimizer_;
  optim::Schedule schedule_;
  Settings settings_;
  WeightAverage average_;
  GradientMaker maker_;
  EpochOrder order_;
  double update_seconds_ = 0;

  RunState state_;
  bool started_ = false;  // by an earlier call of run(): a further one resumes
  bool resumed_ = false;
  std::vector<std::string> notes_;
  Minibatches minibatches_;  // of the epoch under way
  // Of the update under way, if several minibatches make one:
  Gradients pending_;
  TrainingScore pending_score_;
  double epoch_seconds_ = 0;
  NamedTensors best_weights_;  // if there is no folder

  // Only while run() is under way:
  const RunFolder* folder_ = nullptr;
  const StopSignals* signals_ = nullptr;
  std::atomic<bool> stop_{false};
};

}  // namespace espalier::train
