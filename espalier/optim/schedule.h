/// Schedules: the factor of the learning rate in each step. Step 0 is the first.
///
///   adam.set_schedule(optim::linear_warmup(500, optim::cosine_decay(10000)));
///
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::optim {

using Schedule = std::function<double(std::int64_t step)>;

/// All refuse (UsageError) lengths below 1 and factors that are negative or not finite.

ESPALIER_EXPORT Schedule constant_rate(double factor = 1);
/// 1, and `factor` times that after each `every` steps.
ESPALIER_EXPORT Schedule step_decay(std::int64_t every, double factor);
/// factor^(step / every), without jumps.
ESPALIER_EXPORT Schedule exponential_decay(std::int64_t every, double factor);
/// 1 / (1 + rate * step)
ESPALIER_EXPORT Schedule inverse_time_decay(double rate);
/// Half a cosine from 1 down to `floor` in `steps` steps, and `floor` from there on (Loshchilov and Hutter, 2017).
ESPALIER_EXPORT Schedule cosine_decay(std::int64_t steps, double floor = 0);
/// (step + 1) / (steps + 1) of the first factor of `then` in the first `steps` steps; after them `then`, from its step
/// 0.
ESPALIER_EXPORT Schedule linear_warmup(std::int64_t steps, Schedule then);

/// A schedule from text, for configuration files and command lines: "constant", "cosine(floor=0)",
/// "step(every=1000, factor=0.5)", "exponential(every=1000, factor=0.5)", "inverse_time(rate=0.01)". The cosine falls
/// for `steps` steps; its floor is 0 unless it is given, all other options are needed. Refuses (UsageError) unknown
/// names, with the nearest known one, and text that it cannot read.
ESPALIER_EXPORT Schedule parse_schedule(std::string_view text, std::int64_t steps);

}  // namespace espalier::optim
