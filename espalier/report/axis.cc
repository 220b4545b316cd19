#include "espalier/report/axis.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace espalier::report {
namespace {

constexpr double kRounding = 1e-9;

}  // namespace

Axis::Axis(Scale scale, double low, double high, double begin, double end)
    : scale_(scale),
      low_(scale == Scale::kLog ? std::log10(low) : low),
      high_(scale == Scale::kLog ? std::log10(high) : high),
      begin_(begin),
      end_(end) {}

double Axis::place(double value) const {
  if (high_ <= low_) return (begin_ + end_) / 2;
  const double at = scale_ == Scale::kLog ? std::log10(value) : value;
  return begin_ + (end_ - begin_) * (at - low_) / (high_ - low_);
}

std::vector<double> Axis::ticks(int most) const {
  if (high_ <= low_) return {scale_ == Scale::kLog ? std::pow(10.0, low_) : low_};
  return scale_ == Scale::kLog ? log_ticks() : linear_ticks(most);
}

std::vector<double> Axis::log_ticks() const {
  constexpr std::size_t kEnough = 3;
  constexpr std::size_t kMost = 12;
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
  const std::size_t every = (ticks.size() + kMost - 1) / kMost;
  std::size_t at = 0;
  std::erase_if(ticks, [&](double) { return at++ % every != 0; });
  return ticks;
}

std::vector<double> Axis::linear_ticks(int most) const {
  const double decade = std::pow(10.0, std::floor(std::log10((high_ - low_) / most)));
  std::vector<double> ticks;
  for (const double multiple : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    const double step = multiple * decade;
    const double first = std::ceil(low_ / step - kRounding);
    const double last = std::floor(high_ / step + kRounding);
    if (last - first + 1 > most) continue;
    // From whole numbers, so that no rounding adds up; plus zero, so that there is no -0.
    for (double i = first; i <= last; ++i) ticks.push_back(i * step + 0.0);
    break;
  }
  return ticks;
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.3g}", value);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

}  // namespace espalier::report
