#include "espalier/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "espalier/base/error.h"

namespace espalier::optim {
namespace {

void require_length(std::string_view schedule, std::int64_t steps) {
  if (steps < 1) throw UsageError(fmt::format("{}: the number of steps must be 1 or more, not {}", schedule, steps));
}

/// A factor above 1 grows without end: numbers stay finite.
double power(double factor, double exponent) {
  return std::min(std::pow(factor, exponent), std::numeric_limits<double>::max());
}

void require_factor(std::string_view schedule, double factor) {
  if (!(factor >= 0) || !std::isfinite(factor))
    throw UsageError(fmt::format("{}: the factor must be 0 or more and finite, not {}", schedule, factor));
}

}  // namespace

Schedule constant_rate(double factor) {
  require_factor("constant_rate", factor);
  return [factor](std::int64_t) { return factor; };
}

Schedule step_decay(std::int64_t every, double factor) {
  require_length("step_decay", every);
  require_factor("step_decay", factor);
  return [every, factor](std::int64_t step) {
    const std::int64_t drops = step / every;
    return power(factor, static_cast<double>(drops));
  };
}

Schedule exponential_decay(std::int64_t every, double factor) {
  require_length("exponential_decay", every);
  require_factor("exponential_decay", factor);
  return [every, factor](std::int64_t step) {
    return power(factor, static_cast<double>(step) / static_cast<double>(every));
  };
}

Schedule inverse_time_decay(double rate) {
  require_factor("inverse_time_decay", rate);
  return [rate](std::int64_t step) { return 1 / (1 + rate * static_cast<double>(step)); };
}

Schedule cosine_decay(std::int64_t steps, double floor) {
  require_length("cosine_decay", steps);
  require_factor("cosine_decay", floor);
  return [steps, floor](std::int64_t step) {
    if (step >= steps) return floor;
    const double done = static_cast<double>(step) / static_cast<double>(steps);
    return floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  };
}

Schedule linear_warmup(std::int64_t steps, Schedule then) {
  require_length("linear_warmup", steps);
  if (!then) throw UsageError("linear_warmup: there is no schedule to follow");
  return [steps, then = std::move(then)](std::int64_t step) {
    if (step >= steps) return then(step - steps);
    return then(0) * static_cast<double>(step + 1) / static_cast<double>(steps + 1);
  };
}

}  // namespace espalier::optim
