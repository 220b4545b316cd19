#include "bench/suite/axis.h"

#include <fmt/format.h>

#include <array>
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
  constexpr std::size_t kEnough = 3;
  const std::array<std::vector<double>, 3> choices{{{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}}};
  std::vector<double> ticks;
  for (const std::vector<double>& multiples : choices) {
    ticks.clear();
    for (double decade = std::floor(low_); decade <= high_; ++decade)
      for (const double multiple : multiples) {
        const double at = decade + std::log10(multiple);
        if (at >= low_ - kRounding && at <= high_ + kRounding) ticks.push_back(multiple * std::pow(10.0, decade));
      }
    if (ticks.size() >= kEnough) break;
  }
  return ticks;
}

std::string tick_text(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

}  // namespace espalier::bench
