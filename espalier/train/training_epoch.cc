/// What happens after an epoch: evaluation, the best weights, the checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/nn/safetensors.h"
#include "espalier/train/training_run.h"

namespace espalier::train {
namespace {

constexpr std::string_view kMetricFact = "metric";
constexpr std::string_view kValueFact = "metric_value";

bool is_better(const Metric& metric, double than) {
  return metric.higher_is_better ? metric.value > than : metric.value < than;  // NaN is never better
}

/// The first instance of each split of a task: enough to learn which metrics there are.
class FirstInstance final : public Task {
 public:
  explicit FirstInstance(const Task& all) : all_(all) {}
  std::int64_t size(Split split) const override { return std::min<std::int64_t>(all_.size(split), 1); }
  Expr record(Graph& graph, Split split, std::int64_t i, std::vector<Expr>& outputs) const override {
    return all_.record(graph, split, i, outputs);
  }
  using Task::read;
  void read(Split split, std::int64_t i, std::span<const Tensor> outputs, Prediction& prediction) const override {
    all_.read(split, i, outputs, prediction);
  }
  Answers answers() const override { return all_.answers(); }
  std::vector<std::string> classes() const override { return all_.classes(); }
  std::vector<Metric> measure(std::span<const Prediction> predictions) const override {
    return all_.measure(predictions);
  }

 private:
  const Task& all_;
};

/// The value of a metric that a file of weights was written with, if it says so.
std::optional<double> value_in(const std::filesystem::path& path, const std::string& metric) {
  if (!std::filesystem::exists(path)) return {};
  const SafetensorsReader reader(path);
  const Metadata& facts = reader.metadata();
  const auto name = facts.find(kMetricFact);
  const auto text = facts.find(kValueFact);
  if (name == facts.end() || text == facts.end() || name->second != metric) return {};
  double value = 0;
  const std::string& digits = text->second;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

void TrainingRun::end_epoch() {
  EpochSummary summary{.epoch = state_.epoch + 1,
                       .updates = state_.updates,
                       .loss = state_.score.mean_loss(),
                       .accuracy = state_.score.accuracy(),
                       .held_out = {},
                       .is_best = false,
                       .seconds = epoch_seconds_};
  const bool is_last = summary.epoch == options_.epochs;
  const bool is_due = options_.evaluate_every > 0 && (summary.epoch % options_.evaluate_every == 0 || is_last);
  if (is_due && task_.size(Split::kHeldOut) > 0) evaluate_held_out(summary);
  state_.history.push_back(summary);
  state_.epoch = summary.epoch;
  state_.minibatch = 0;
  state_.score = {};
  if (is_last)
    state_.ended = Ending::kFinished;
  else if (options_.patience > 0 && state_.evaluations_since_best >= options_.patience)
    state_.ended = Ending::kStoppedEarly;
  tell(&Observer::epoch_done, summary);
  save();
}

void TrainingRun::evaluate_held_out(EpochSummary& summary) {
  const WithAverage averaged(average_);
  const auto tell_progress = [&](std::int64_t done, std::int64_t total) {
    for (Observer* observer : options_.observers) observer->evaluation_progress(Split::kHeldOut, done, total);
  };
  tell_progress(0, task_.size(Split::kHeldOut));  // clocks of observers start here
  const Evaluation evaluation = evaluate(task_, Split::kHeldOut, tell_progress);
  summary.held_out = evaluation.metrics;
  const Metric& metric = chosen_metric(evaluation);
  summary.is_best = state_.best_epoch == 0 ? !std::isnan(metric.value) : is_better(metric, state_.best_value);
  ++state_.evaluations_since_best;
  if (summary.is_best) {
    state_.best_epoch = summary.epoch;
    state_.best_value = metric.value;
    state_.evaluations_since_best = 0;
    keep_best(metric);
  }
  tell(&Observer::evaluated, Evaluated{.split = Split::kHeldOut,
                                       .epoch = summary.epoch,
                                       .update = state_.updates,
                                       .evaluation = evaluation,
                                       .is_best = summary.is_best});
}

void TrainingRun::check_metric() const {
  if (options_.metric.empty() || task_.size(Split::kHeldOut) == 0) return;
  chosen_metric(evaluate(FirstInstance(task_), Split::kHeldOut));
}

const Metric& TrainingRun::chosen_metric(const Evaluation& evaluation) const {
  if (options_.metric.empty()) return evaluation.metrics.front();
  if (const Metric* metric = evaluation.find(options_.metric)) return *metric;
  std::string names;
  for (const Metric& metric : evaluation.metrics)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", metric.name);
  throw UsageError(fmt::format("Trainer: there is no metric \"{}\"; there are {}", options_.metric, names));
}

void TrainingRun::keep_best(const Metric& metric) {
  if (!folder_->exists()) {
    for (const Parameter* parameter : model_.parameters())
      best_weights_.insert_or_assign(parameter->name(), parameter->value());
    return;
  }
  // A process that was killed before its checkpoint may have written better ones.
  const std::optional<double> before = value_in(folder_->best(), metric.name);
  if (before && is_better({metric.name, *before, metric.higher_is_better}, metric.value)) return;
  Metadata facts;
  for (const auto& [name, value] : options_.facts) facts[name] = value;
  facts[std::string(kMetricFact)] = metric.name;
  facts[std::string(kValueFact)] = fmt::format("{}", metric.value);
  facts["epoch"] = fmt::format("{}", state_.best_epoch);
  model_.save(folder_->best(), facts);
}

void TrainingRun::save() {
  if (!folder_->exists()) return;
  write_checkpoint(folder_->checkpoint(), state_, settings_, model_, *optimizer_, average_);
  tell(&Observer::checkpoint_written, CheckpointWritten{folder_->checkpoint(), state_.updates});
}

void TrainingRun::load_result() {
  if (state_.best_epoch == 0) {
    for (std::size_t i = 0; i < average_.tensors().size(); ++i)
      model_.parameters()[i]->replace_value(average_.tensors()[i]);
  } else if (folder_->exists()) {
    model_.load(folder_->best());
  } else {
    for (Parameter* parameter : model_.parameters()) parameter->replace_value(best_weights_.at(parameter->name()));
  }
}

}  // namespace espalier::train
