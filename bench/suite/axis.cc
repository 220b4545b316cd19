#include "bench/suite/axis.h"

#include <fmt/format.h>

#include <cmath>

namespace espalier::bench {

LogAxis::LogAxis(double low, double high, double begin, double end)
    : low_(std::log10(low)), high_(std::log10(high)), begin_(begin), end_(end) {}

double LogAxis::place(double value) const {
  if (high_ <= low_) return (begin_ + end_) / 2;
  return begin_ + (end_ - begin_) * (std::log10(value) - low_) / (high_ - low_);
}

std::vector<double> LogAxis::ticks() const {
  constexpr double kRounding = 1e-9;
  constexpr double kManyDecades = 2.5;
  std::vector<double> ticks;
  for (double decade = std::floor(low_); decade <= high_; ++decade)
    for (const double multiple : {1.0, 2.0, 5.0}) {
      if (multiple > 1 && high_ - low_ > kManyDecades) continue;
      const double at = decade + std::log10(multiple);
      if (at >= low_ - kRounding && at <= high_ + kRounding) ticks.push_back(multiple * std::pow(10.0, decade));
    }
  return ticks;
}

std::string tick_text(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

}  // namespace espalier::bench
