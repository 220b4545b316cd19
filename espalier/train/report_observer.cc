#include "espalier/train/report_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/train/report_answers.h"
#include "espalier/train/report_curves.h"

namespace espalier::train {
namespace {

report::DataSplit data_split(const Task& task, Split split) {
  report::DataSplit data{std::string(words_of(split)), task.size(split), 0, 0, 0};
  double sum = 0;
  for (std::int64_t i = 0; i < data.instances; ++i) {
    const std::int64_t nodes = task.nodes(split, i);
    data.fewest_nodes = i == 0 ? nodes : std::min(data.fewest_nodes, nodes);
    data.most_nodes = std::max(data.most_nodes, nodes);
    sum += static_cast<double>(nodes);
  }
  if (data.most_nodes <= 1) return {data.name, data.instances, 0, 0, 0};  // the task does not say
  data.mean_nodes = sum / static_cast<double>(data.instances);
  return data;
}

}  // namespace

struct ReportObserver::State {
  ReportOptions options;
  report::RunReport report;
  UpdateCurves updates;
  Work work;
  std::int64_t parameters = 0;
  std::int32_t epochs = 0;
  std::int64_t epoch_instances = 0;     // in an epoch
  std::int64_t instances_to_train = 0;  // of this epoch, in this process
  const Task* task = nullptr;           // during a run
};

ReportObserver::ReportObserver(ReportOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

ReportObserver::~ReportObserver() = default;

const report::RunReport& ReportObserver::report() const { return state_->report; }

void ReportObserver::run_started(const RunStarted& event) {
  ensure_writable_file(state_->options.path);
  ReportOptions options = std::move(state_->options);
  *state_ = State();
  state_->options = std::move(options);
  state_->parameters = event.model.count();
  state_->epochs = static_cast<std::int32_t>(event.history.size());
  state_->task = &event.task;
  report::RunReport& report = state_->report;
  report.title = state_->options.title;
  report.footer = state_->options.footer;
  report.settings = event.settings;
  report.notes.assign(event.notes.begin(), event.notes.end());
  report.threads = thread_count();
  for (const Split split : {Split::kTrain, Split::kHeldOut, Split::kTest})
    if (event.task.size(split) > 0) report.data.push_back(data_split(event.task, split));
  if (!event.resumed) return;
  report.statistics_of = fmt::format("since the run was resumed after update {}", event.updates);
  report.notes.push_back(fmt::format(
      "The run was resumed after update {}. Curves of single updates, times and counts begin there.", event.updates));
}

void ReportObserver::epoch_started(const EpochStarted& event) {
  state_->epochs = event.epochs;
  state_->epoch_instances = event.instances;
  state_->instances_to_train = event.instances - event.done;
}

void ReportObserver::step_done(const StepDone& event) {
  const double share =
      state_->epoch_instances > 0 ? static_cast<double>(event.done) / static_cast<double>(state_->epoch_instances) : 0;
  const double at = event.epoch - 1 + share;
  state_->updates.loss.add({at, event.loss});
  state_->updates.learning_rate.add({at, event.learning_rate});
  if (event.gradient_norm) state_->updates.gradient_norm.add({at, *event.gradient_norm});
}

void ReportObserver::evaluated(const Evaluated& event) {
  if (event.split != Split::kHeldOut || (!event.is_best && !state_->report.results_of.empty())) return;
  add_answers(*state_->task, event.split, event.evaluation, state_->report);
  state_->report.results_of =
      fmt::format("{}, epoch {}, {} instances", words_of(event.split), event.epoch, event.evaluation.instances);
}

void ReportObserver::epoch_done(const EpochSummary& event) {
  state_->work.instances += state_->instances_to_train;
  state_->work.seconds += event.seconds;
}

void ReportObserver::run_ended(const RunEnded& event) {
  if (state_->task == nullptr) return;  // it did not start
  state_->task = nullptr;
  report::RunReport& report = state_->report;
  report.outcome = name_of(event.ending);
  report.message = event.message;
  report.curves = curves_of(event.history, state_->updates);
  report.headlines = headlines_of(event.history, state_->epochs, state_->work, state_->parameters);
  report.statistics = event.statistics;
  report.training_seconds = state_->work.seconds;
  try {
    write_file_atomically(state_->options.path, report::run_page(report));
  } catch (const Error&) {
    if (event.ending != Ending::kFailed) throw;  // else why the run failed is what matters
  }
}

}  // namespace espalier::train
