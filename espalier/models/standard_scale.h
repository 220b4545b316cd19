/// Numbers as networks learn them: less their mean, and divided by their standard deviation.
#pragma once

#include <cmath>
#include <span>

#include "espalier/base/error.h"
#include "espalier/data/value.h"

namespace espalier::models {

struct StandardScale {
  double mean = 0;
  double deviation = 1;

  double scaled(double x) const { return (x - mean) / deviation; }
  double original(double x) const { return x * deviation + mean; }

  Value to_value() const { return Value::map({{"mean", mean}, {"deviation", deviation}}); }
  /// Refuses (UsageError) anything but finite numbers with a deviation above 0.
  static StandardScale from_value(const Value& value) {
    const StandardScale scale{.mean = value.at("mean").as_float(), .deviation = value.at("deviation").as_float()};
    if (!std::isfinite(scale.mean) || !std::isfinite(scale.deviation) || scale.deviation <= 0)
      throw UsageError("expected a finite mean and a deviation above 0");
    return scale;
  }
};

/// Of these numbers; those that are NaN do not count. Equal numbers, or none, have the deviation 1.
inline StandardScale scale_of(std::span<const double> numbers) {
  double count = 0;
  double sum = 0;
  for (const double x : numbers)
    if (!std::isnan(x)) ++count, sum += x;
  if (count == 0) return {};
  StandardScale scale{.mean = sum / count};
  double squares = 0;
  for (const double x : numbers)
    if (!std::isnan(x)) squares += (x - scale.mean) * (x - scale.mean);
  if (squares > 0) scale.deviation = std::sqrt(squares / count);
  return scale;
}

}  // namespace espalier::models
