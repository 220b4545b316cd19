#include "espalier/report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace espalier::report {
namespace {

std::string grouped(std::string_view digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace

std::string short_number(double number) {
  if (number >= 10'000) return grouped(fmt::format("{:.0f}", number));
  if (number >= 1000) return fmt::format("{:.0f}", number);
  if (number >= 10) return fmt::format("{:.1f}", number);
  return fmt::format("{:.3f}", number);
}

std::string short_ratio(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : "-"; }

std::string short_bytes(double bytes) {
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string short_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string whole_number(std::int64_t number) { return grouped(fmt::format("{}", number)); }

std::string figure(double number) {
  constexpr int kDigits = 4;
  constexpr double kSmallest = 1e-6;
  constexpr double kLargest = 1e9;
  const double size = std::abs(number);
  if (!std::isfinite(number)) return fmt::format("{}", number);
  if (number == 0) return "0";
  if (size < kSmallest || size >= kLargest) return fmt::format("{:.3e}", number);
  const int decimals = std::max(kDigits - 1 - static_cast<int>(std::floor(std::log10(size))), 0);
  return fmt::format("{:.{}f}", number, decimals);
}

std::string percent(double part, double whole) { return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0); }

}  // namespace espalier::report
