#include "espalier/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/base/trace.h"
#include "espalier/optim/parse.h"
#include "espalier/train/not_finite.h"

namespace espalier::train {
namespace {

using TrainingClock = std::chrono::steady_clock;

double seconds_since(TrainingClock::time_point start) {
  return std::chrono::duration<double>(TrainingClock::now() - start).count();
}

std::vector<std::int64_t> nodes_of_training(const TrainerOptions& options, const Task& task) {
  require_options(options, task);
  std::vector<std::int64_t> nodes;
  for (std::int64_t i = 0; i < task.size(Split::kTrain); ++i) {
    nodes.push_back(task.nodes(Split::kTrain, i));
    if (nodes.back() < 1)
      throw UsageError(
          fmt::format("Trainer: training instance {} has {} nodes, and 1 or more are expected", i, nodes.back()));
  }
  return nodes;
}

optim::Schedule schedule_of(const TrainerOptions& options, std::int64_t planned) {
  const std::int64_t warmup = std::min(options.warmup, planned / 10);
  const optim::Schedule after = optim::parse_schedule(options.schedule, std::max<std::int64_t>(1, planned - warmup));
  return warmup > 0 ? optim::linear_warmup(warmup, after) : after;
}

GradientOptions gradient_options(const TrainerOptions& options, const Task& task) {
  const bool ahead = options.ahead == RecordAhead::kAlways ||
                     (options.ahead == RecordAhead::kWherePays && options.batch <= kSmallBatch && thread_count() > 1);
  return {.seed = options.seed,
          .strategy = options.strategy,
          .ahead = ahead,
          .measure = options.measure_training && task.answers() == Answers::kClasses,
          .least_in_lane = options.least_in_lane,
          .keep_recordings = options.keep_recordings};
}

/// Calls f, and adds the time it took.
template <class F>
void timed(double& seconds, const F& f) {
  const TrainingClock::time_point start = TrainingClock::now();
  f();
  seconds += seconds_since(start);
}

}  // namespace

TrainingRun::TrainingRun(Model& model, const Task& task, TrainerOptions options)
    : model_(model),
      task_(task),
      options_(std::move(options)),
      nodes_(nodes_of_training(options_, task)),
      planned_(planned_updates(options_, nodes_)),
      optimizer_(optim::parse(model, options_.optimizer)),
      schedule_(schedule_of(options_, planned_)),
      settings_(settings_of(options_, task, *optimizer_)),
      average_(model, options_.average_decay),
      maker_(task, nodes_, gradient_options(options_, task)),
      order_(nodes_.size(), options_.seed, options_.shuffle) {
  optimizer_->set_schedule(schedule_);
}

Statistics TrainingRun::statistics() const {
  Statistics all = maker_.statistics();
  all.seconds.update += update_seconds_;
  return all;
}

bool TrainingRun::wants_to_stop() const {
  return stop_.load(std::memory_order_relaxed) || (signals_ != nullptr && signals_->raised());
}

RunResult TrainingRun::run() {
  const RunFolder folder(options_.folder);
  const StopSignals signals(options_.handle_signals);
  folder_ = &folder;
  signals_ = &signals;
  bool is_told = false;
  const auto ended = [&](Ending ending, const std::string& message) {
    folder_ = nullptr;
    signals_ = nullptr;
    stop_.store(false, std::memory_order_relaxed);
    if (is_told) tell(&Observer::run_ended, {ending, message, state_.history, statistics()});
  };
  RunResult result;
  try {
    check_metric();
    start();
    is_told = true;
    tell_started();
    if (!resumed_) save();  // shows, before any work, that it can be written
    result = result_of(loop());
  } catch (const std::exception& error) {
    ended(Ending::kFailed, error.what());
    throw;
  }
  ended(result.ending, result.message);
  return result;
}

Ending TrainingRun::loop() {
  while (!state_.ended) {
    const bool is_whole = train_epoch();
    if (is_whole) end_epoch();
    if (state_.ended) break;
    if (!is_whole || wants_to_stop()) {
      if (!is_whole) save();
      return Ending::kInterrupted;
    }
  }
  load_result();
  return *state_.ended;
}

bool TrainingRun::train_epoch() {
  minibatches_ = minibatches_of(options_, nodes_, order_, state_.epoch);
  tell(&Observer::epoch_started, EpochStarted{.epoch = state_.epoch + 1,
                                              .epochs = options_.epochs,
                                              .instances = std::ssize(nodes_),
                                              .done = state_.score.instances});
  epoch_seconds_ = 0;
  while (state_.minibatch < minibatches_.size()) {
    if (wants_to_stop()) return false;
    const std::int64_t end = chunk_end();
    timed(epoch_seconds_, [&] {
      maker_.run(minibatches_, state_.minibatch, end, static_cast<std::uint64_t>(state_.minibatches),
                 [&](std::int64_t number, const TrainingScore& score, Gradients& gradients) {
                   add_minibatch(number, score, gradients);
                 });
    });
    const bool is_due = options_.checkpoint_every > 0 && state_.updates % options_.checkpoint_every == 0;
    if (is_due && state_.minibatch < minibatches_.size()) save();
  }
  return true;
}

/// Minibatches are computed in chunks of whole updates; between chunks a run can be saved and stopped.
std::int64_t TrainingRun::chunk_end() const {
  constexpr std::int64_t kUpdatesAhead = 32;  // more than one at a time gain only if the next one is recorded ahead
  std::int64_t updates = maker_.records_ahead() ? kUpdatesAhead : 1;
  if (options_.checkpoint_every > 0)
    updates = std::min(updates, options_.checkpoint_every - state_.updates % options_.checkpoint_every);
  return std::min(minibatches_.size(), state_.minibatch + updates * options_.accumulate);
}

void TrainingRun::add_minibatch(std::int64_t number, const TrainingScore& score, Gradients& gradients) {
  require_finite(score.loss, nullptr, number);
  pending_score_.add(score);
  ++state_.minibatch;
  ++state_.minibatches;
  const bool is_last = state_.minibatch % options_.accumulate == 0 || state_.minibatch == minibatches_.size();
  if (options_.accumulate == 1) return update(gradients);
  pending_.add(gradients);
  if (is_last) update(pending_);
}

void TrainingRun::update(Gradients& gradients) {
  const double rate = optimizer_->learning_rate() * schedule_(optimizer_->steps());
  const TrainingScore score = std::exchange(pending_score_, {});
  timed(update_seconds_, [&] {
    const SpanTimer span(Trace::is_on(), [] { return TimeSpan{.doing = Doing::kUpdate}; });
    if (score.instances > 1) gradients.scale(1.0 / static_cast<double>(score.instances));
    require_finite(score.loss, &gradients, state_.minibatch - 1);
    optimizer_->step(gradients);
    ++state_.updates;
    average_.update(state_.updates);
  });
  state_.score.add(score);
  const double norm = optimizer_->last_norm();
  tell(&Observer::step_done, StepDone{.epoch = state_.epoch + 1,
                                      .update = state_.updates,
                                      .done = state_.score.instances,
                                      .loss = score.mean_loss(),
                                      .epoch_loss = state_.score.mean_loss(),
                                      .accuracy = state_.score.accuracy(),
                                      .learning_rate = rate,
                                      .gradient_norm = norm > 0 ? std::optional(norm) : std::nullopt});
}

void TrainingRun::require_finite(double loss, const Gradients* gradients, std::int64_t minibatch) const {
  const Parameter* parameter = gradients == nullptr ? nullptr : find_not_finite(*gradients);
  if (std::isfinite(loss) && parameter == nullptr) return;
  std::vector<Suspect> suspects;
  const std::int64_t first = minibatch / options_.accumulate * options_.accumulate;
  const std::int64_t before = state_.minibatches - state_.minibatch;  // of earlier epochs
  for (std::int64_t i = first; i <= minibatch; ++i)
    suspects.push_back({minibatches_[i], static_cast<std::uint64_t>(before + i)});
  const std::string where = explain_not_finite(task_, model_, maker_.graph_options(), suspects);
  const std::string what = parameter == nullptr
                               ? fmt::format("the loss is {}", loss)
                               : fmt::format("the gradient of parameter \"{}\" is not finite", parameter->name());
  std::string text =
      fmt::format("training stopped in step {}, epoch {}: {}: {}", state_.updates + 1, state_.epoch + 1, what, where);
  if (folder_->exists())
    text += fmt::format("\n  the weights before are in \"{}\"; lower the learning rate, or clip gradients",
                        folder_->checkpoint().string());
  throw UsageError(text);
}

RunResult TrainingRun::result_of(Ending ending) const {
  RunResult result{.ending = ending,
                   .message = {},
                   .resumed = resumed_,
                   .updates = state_.updates,
                   .history = state_.history,
                   .best_epoch = state_.best_epoch,
                   .best_value = state_.best_value};
  result.message = fmt::format("{} after {} of {} epochs and {} updates", name_of(ending), state_.epoch,
                               options_.epochs, state_.updates);
  if (ending == Ending::kInterrupted && !options_.how_to_resume.empty())
    result.message += fmt::format("; to resume: {}", options_.how_to_resume);
  else if (ending == Ending::kInterrupted && folder_->exists())
    result.message += fmt::format("; to resume, run again with the folder \"{}\"", folder_->path().string());
  else if (state_.best_epoch > 0)
    result.message += fmt::format("; the best weights are those of epoch {}", state_.best_epoch);
  return result;
}

}  // namespace espalier::train
