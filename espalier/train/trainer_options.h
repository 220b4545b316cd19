/// TrainerOptions checked, and as settings. Internal.
#pragma once

#include <cstdint>
#include <span>

#include "espalier/optim/optimizer.h"
#include "espalier/train/minibatches.h"
#include "espalier/train/trainer.h"

namespace espalier::train {

/// Refuses (UsageError) options that make no sense, with or without held-out instances.
void require_options(const TrainerOptions& options, const Task& task);

/// All that decides the numbers of a run, and facts about the data.
Settings settings_of(const TrainerOptions& options, const Task& task, const optim::Optimizer& optimizer);

/// The minibatches of an epoch; the first is 0.
Minibatches minibatches_of(const TrainerOptions& options, std::span<const std::int64_t> nodes, EpochOrder& order,
                           std::int32_t epoch);
/// How many updates the minibatches of an epoch make.
std::int64_t updates_in(const TrainerOptions& options, const Minibatches& minibatches);
/// How many updates the whole run makes.
std::int64_t planned_updates(const TrainerOptions& options, std::span<const std::int64_t> nodes);

}  // namespace espalier::train
