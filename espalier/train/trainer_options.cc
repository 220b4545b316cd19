#include "espalier/train/trainer_options.h"

#include <fmt/format.h>

#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/strategy.h"

namespace espalier::train {
namespace {

void require_at_least(std::string_view option, std::int64_t value, std::int64_t least) {
  if (value < least) throw UsageError(fmt::format("Trainer: {} must be {} or more, not {}", option, least, value));
}

std::string_view name_of(RecordAhead ahead) {
  switch (ahead) {
    case RecordAhead::kWherePays: return "auto";
    case RecordAhead::kAlways: return "on";
    case RecordAhead::kNever: return "off";
  }
  return "";
}

}  // namespace

void require_options(const TrainerOptions& options, const Task& task) {
  if (task.size(Split::kTrain) < 1) throw UsageError("Trainer: the task has no training instances");
  require_at_least("epochs", options.epochs, 1);
  require_at_least("batch", options.batch, 1);
  require_at_least("batch_nodes", options.batch_nodes, 0);
  require_at_least("accumulate", options.accumulate, 1);
  require_at_least("warmup", options.warmup, 0);
  require_at_least("evaluate_every", options.evaluate_every, 0);
  require_at_least("patience", options.patience, 0);
  require_at_least("checkpoint_every", options.checkpoint_every, 0);
  require_at_least("least_in_lane", options.least_in_lane, 1);
  if (!(options.average_decay >= 0 && options.average_decay < 1))
    throw UsageError(
        fmt::format("Trainer: average_decay must be at least 0 and below 1, not {}", options.average_decay));
  if (options.patience > 0 && (task.size(Split::kHeldOut) < 1 || options.evaluate_every == 0))
    throw UsageError("Trainer: patience needs held-out instances and evaluate_every above 0");
  if (options.start == Start::kResume && options.folder.empty())
    throw UsageError("Trainer: a run without a folder cannot be resumed");
}

Settings settings_of(const TrainerOptions& options, const Task& task, const optim::Optimizer& optimizer) {
  Settings settings{{"epochs", fmt::format("{}", options.epochs)},
                    {"seed", fmt::format("{}", options.seed)},
                    {"shuffle", fmt::format("{}", options.shuffle)},
                    {"batch", fmt::format("{}", options.batch)},
                    {"batch_nodes", fmt::format("{}", options.batch_nodes)},
                    {"accumulate", fmt::format("{}", options.accumulate)},
                    {"optimizer", optimizer.to_string()},
                    {"schedule", options.schedule},
                    {"warmup", fmt::format("{}", options.warmup)},
                    {"average_decay", fmt::format("{}", options.average_decay)},
                    {"evaluate_every", fmt::format("{}", options.evaluate_every)},
                    {"metric", options.metric},
                    {"patience", fmt::format("{}", options.patience)},
                    {"strategy", std::string(name_of(options.strategy))},
                    {"ahead", std::string(name_of(options.ahead))},
                    {"least_in_lane", fmt::format("{}", options.least_in_lane)}};
  for (const Split split : {Split::kTrain, Split::kHeldOut})
    settings.emplace_back(fmt::format("data.{}", name_of(split)),
                          fmt::format("{} instances ({:016x})", task.size(split), fingerprint(task, split)));
  settings.insert(settings.end(), options.facts.begin(), options.facts.end());
  return settings;
}

Minibatches minibatches_of(const TrainerOptions& options, std::span<const std::int64_t> nodes, EpochOrder& order,
                           std::int32_t epoch) {
  return {order.at(epoch), nodes, {.instances = options.batch, .nodes = options.batch_nodes}};
}

std::int64_t updates_in(const TrainerOptions& options, const Minibatches& minibatches) {
  return (minibatches.size() + options.accumulate - 1) / options.accumulate;
}

std::int64_t planned_updates(const TrainerOptions& options, std::span<const std::int64_t> nodes) {
  EpochOrder order(nodes.size(), options.seed, options.shuffle);
  if (options.batch_nodes == 0) return updates_in(options, minibatches_of(options, nodes, order, 0)) * options.epochs;
  std::int64_t updates = 0;  // how many minibatches there are depends on the order
  for (std::int32_t epoch = 0; epoch < options.epochs; ++epoch)
    updates += updates_in(options, minibatches_of(options, nodes, order, epoch));
  return updates;
}

}  // namespace espalier::train
