/// Trainer: a training run that can be left alone. It trains a Model on a Task, evaluates, keeps the best weights, and
/// goes on where it was stopped, to the same bits.
///
///   train::TaskOf<Tree> task({.train = trees, .held_out = others, .output = ..., .label = ...});
///   train::Trainer trainer(net.model, task, {.folder = "run", .epochs = 20, .patience = 3});
///   const train::RunResult result = trainer.run();  // a second call, or a second process, goes on with the same run
///
/// docs/your_own_data.md walks through a whole program. The model must have all its parameters when the Trainer is
/// made.
///
/// The folder of a run holds
///   checkpoint.safetensors  everything that resuming needs, replaced as a whole: weights, state of the optimizer,
///                           averaged weights, position in the data, settings
///   best.safetensors        the weights with the best held-out result, never replaced by worse ones
///   lock                    held by the process that runs; a second one is refused. It does not outlive its process
///
/// Bits: the same settings, data, processor and number of threads give the same bits, whether or not a run is stopped
/// and resumed. The order of the data depends on the seed and the epoch alone, the masks of dropout on the seed, the
/// number of the minibatch and the instance.
///
/// Thread safety: one thread at a time, except request_stop().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/strategy.h"
#include "espalier/graph/statistics.h"
#include "espalier/nn/model.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/observer.h"
#include "espalier/train/task.h"

namespace espalier::train {

/// What run() does if its folder has a run already.
enum class Start : std::int32_t {
  /// Resumes it; if it had ended, run() only loads its weights. Begins a run in an empty folder.
  kResumeOrBegin,
  /// Resumes it. Refuses (UsageError) a folder without one.
  kResume,
  /// Begins a new run. Refuses (UsageError) to replace one that has not ended; one that has is replaced.
  kBegin,
  /// Begins a new run, whatever is there.
  kReplace,
};

/// Whether the next minibatch is recorded while one runs (train/ahead.h).
enum class RecordAhead : std::int32_t {
  kWherePays,  // batches of up to kSmallBatch instances, with several threads; larger ones are divided among the
               // threads
  kAlways,
  kNever,
};
/// bench/ahead.cc has the figures.
inline constexpr std::int64_t kSmallBatch = 2;

struct TrainerOptions {
  /// Where the run is kept. Empty: nothing is written, and the run cannot be resumed.
  std::string folder = {};
  Start start = Start::kResumeOrBegin;

  std::int32_t epochs = 10;
  /// Chooses the order of the data and the masks of dropout. The initial weights come from the Model's own seed.
  std::uint64_t seed = 1;
  bool shuffle = true;
  /// Instances in a minibatch.
  std::int64_t batch = 32;
  /// If above 0, minibatches have as many instances as fit into this many nodes (Task::nodes), at least one, and at
  /// most `batch`.
  std::int64_t batch_nodes = 0;
  /// Minibatches per update: their gradients are added up. The last update of an epoch may have fewer.
  std::int32_t accumulate = 1;

  /// As optim::parse() reads it. With clip_norm, gradients are clipped.
  std::string optimizer = "adam(learning_rate=0.001)";
  /// As optim::parse_schedule() reads it, such as "cosine". The run's updates are its length.
  std::string schedule = "constant";
  /// Updates in which the learning rate rises evenly, before the schedule begins; at most a tenth of the run.
  std::int64_t warmup = 0;
  /// If above 0, evaluation and the best weights use averages of the weights: after each update,
  /// average = d average + (1 - d) weights with d = min(decay, (1 + updates) / (10 + updates)).
  double average_decay = 0;

  /// Epochs between evaluations of the held-out instances; 0 evaluates never.
  std::int32_t evaluate_every = 1;
  /// The metric that chooses the best weights. Empty: the first of the task's, or "loss" if it has none.
  std::string metric = {};
  /// The run ends after this many evaluations without improvement; 0: never.
  std::int32_t patience = 0;
  /// Whether training instances are scored too, with the weights before their update, which gives a running accuracy.
  bool measure_training = false;

  /// Updates between checkpoints within an epoch; 0: only after epochs. Every epoch ends with one.
  std::int64_t checkpoint_every = 0;
  /// While it runs, SIGINT and SIGTERM call request_stop(); the second one ends the process.
  bool handle_signals = false;
  /// How a person resumes this run, for messages; empty: by calling run() again.
  std::string how_to_resume = {};
  /// Whether a run is resumed although settings, data or parameters are not what they were. Otherwise that is refused
  /// (UsageError), with what differs.
  bool allow_changes = false;

  Strategy strategy = Strategy::kFrontier;
  RecordAhead ahead = RecordAhead::kWherePays;
  /// Training instances are recorded in the first epoch and kept (graph/recordings.h), to the same numbers. The task's
  /// record() is then called instead of record_all(), and must record the same whenever it is called for an instance.
  bool keep_recordings = false;
  /// A thread gets a graph of its own only for this many instances of a minibatch (train::Lanes::run).
  std::int64_t least_in_lane = 1;

  /// Further settings, those of the model and the data: shown in reports, and compared when the run is resumed.
  Settings facts = {};
  /// Told in this order; must outlive the run.
  std::vector<Observer*> observers = {};
};

struct RunResult {
  Ending ending = Ending::kFinished;
  /// A sentence: what happened and, if the run can be resumed, how.
  std::string message;
  bool resumed = false;
  std::int64_t updates = 0;
  std::vector<EpochSummary> history;
  /// The epoch whose weights are the best; 0 if nothing was evaluated.
  std::int32_t best_epoch = 0;
  double best_value = 0;
};

class ESPALIER_EXPORT Trainer {
 public:
  /// Model, task and all that the options name must outlive it. Refuses (UsageError) options that make no sense.
  Trainer(Model& model, const Task& task, TrainerOptions options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains until the run ends or is interrupted. When it has ended, the model has the best weights if there are
  /// held-out instances, and otherwise the last ones (averaged, with average_decay). After an interruption it has those
  /// of the last update.
  ///
  /// Refuses (UsageError) a folder whose run has other settings, and (ResourceError) one that another run uses, and
  /// files that cannot be written: the last checkpoint stays as it was. If a loss or a gradient is not finite, the run
  /// stops with a UsageError that names step, parameter and op; the last checkpoint stays.
  RunResult run();

  /// The run finishes its update, writes a checkpoint and returns. From any thread, and from a signal handler.
  void request_stop() noexcept;

  /// Evaluates with the weights that the model has now.
  Evaluation evaluate(Split split) const;

  /// Of all training graphs so far; seconds are those of all threads together.
  Statistics statistics() const;
  /// The settings as observers get them.
  const Settings& settings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::train
