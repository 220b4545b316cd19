#include "espalier/show/colour.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace espalier::show {
namespace {

/// From Oklch to sRGB (Ottosson, 2020: "A perceptual color space for image processing"), clipped.
std::array<int, 3> to_srgb(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180;
  const double a = chroma * std::cos(angle);
  const double b = chroma * std::sin(angle);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const std::array<double, 3> linear{4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                                     -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                                     -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  std::array<int, 3> bytes{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::clamp(linear[i], 0.0, 1.0);
    const double gamma = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
    bytes[i] = static_cast<int>(std::lround(255 * gamma));
  }
  return bytes;
}

}  // namespace

std::string colour_of_step(std::int64_t step, std::int64_t steps) {
  constexpr double kFirstHue = 262;  // blue
  constexpr double kLastHue = 15;    // red
  const double place = steps <= 1 ? 0 : static_cast<double>(step) / static_cast<double>(steps - 1);
  const double lightness = step % 2 == 0 ? 0.64 : 0.80;
  const auto [r, g, b] = to_srgb(lightness, 0.135, kFirstHue + (kLastHue - kFirstHue) * place);
  return fmt::format("#{:02x}{:02x}{:02x}", r, g, b);
}

}  // namespace espalier::show
